"""Unzipping compared with zipfile, unzip and stream-unzip."""
