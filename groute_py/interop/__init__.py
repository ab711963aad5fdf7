"""Graphs of other libraries, converted: NetworkX, SciPy, and tables of pandas, Polars and Arrow."""
