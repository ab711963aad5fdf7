"""Devices that have the whole graph to themselves: each relaxes in a way of its own."""
