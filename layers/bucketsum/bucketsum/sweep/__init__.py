"""What is asked of a sweep → its plan, its samples, and the setting to deploy."""
