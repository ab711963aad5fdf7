"""Cuts of a graph into vertex ranges, one a rank, and the share of a rank."""
