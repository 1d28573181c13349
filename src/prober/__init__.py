"""The prober's Lambda function."""
