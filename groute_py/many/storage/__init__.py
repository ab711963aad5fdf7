"""Finished work, in a folder beside the output: rows one by one, or parts of an answer."""
