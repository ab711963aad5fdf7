"""Cutting a graph into vertex ranges, one part a rank, and what a rank holds of it."""
