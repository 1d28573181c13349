"""The publisher's Lambda function."""
