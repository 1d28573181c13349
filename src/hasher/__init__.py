"""The hasher's Lambda function."""
