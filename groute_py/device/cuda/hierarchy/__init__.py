"""Contraction hierarchies on a GPU: how they are made, and how trees are swept out of them."""
