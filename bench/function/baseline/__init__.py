"""The baseline function that the hasher is compared with (Bryson, 2021)."""
