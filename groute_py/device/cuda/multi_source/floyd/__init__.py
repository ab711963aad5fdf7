"""Blocked Floyd–Warshall: on one GPU, beyond its memory, and over several ranks."""
