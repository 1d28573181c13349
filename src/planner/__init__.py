"""The planner's Lambda function."""
