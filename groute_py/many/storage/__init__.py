"""Rows in files: written one by one into a folder beside the output, which is made of it."""
