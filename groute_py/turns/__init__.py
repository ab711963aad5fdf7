"""Turn costs and forbidden turns, by an expansion of the graph."""
