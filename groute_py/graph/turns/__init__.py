"""Turn costs and forbidden turns, by an expansion of the graph; `table` has what a user lists."""
