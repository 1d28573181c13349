"""The local emulator (ministack): its programs, its state, and SAM for it."""
