"""The command's shared options and their values, and the completion of values in a shell."""
