"""The slicer's Lambda function."""
