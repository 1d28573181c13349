"""The local emulator (ministack): `bucketsum local`."""
