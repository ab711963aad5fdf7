"""A share of the graph in device memory, and the arrangements of its arcs."""
