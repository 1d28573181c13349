"""Hash objects that one invocation cannot finish, in slices."""
