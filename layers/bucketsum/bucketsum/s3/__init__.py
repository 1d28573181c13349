"""An object → the bytes of it, in order and complete, or any few of them."""
