"""An invocation of a Lambda function: clients, deadline, layer."""
