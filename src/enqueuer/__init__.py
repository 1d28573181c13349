"""The enqueuer's Lambda function."""
