"""The local emulator (ministack): its programs, its state, and deployment to it."""
