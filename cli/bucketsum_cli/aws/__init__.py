"""The connection to AWS, and the stack."""
