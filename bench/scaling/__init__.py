"""Arithmetic on AWS's published limits: bursts and constant loads."""
