"""Customizable contraction hierarchies: an order from separators, and what follows from it."""
