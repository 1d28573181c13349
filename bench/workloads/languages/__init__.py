"""Programs in other languages, built if their toolchain is installed."""
