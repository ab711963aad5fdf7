"""Least-cost distances on rasters."""
