"""The analyst's Lambda function."""
