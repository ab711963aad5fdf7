"""Memory of graphs and jobs from numbers alone, for plans and checks before any work."""
