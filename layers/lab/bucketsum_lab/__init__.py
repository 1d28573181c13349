"""A sweep's input → its plan, its samples, and the setting to deploy."""
