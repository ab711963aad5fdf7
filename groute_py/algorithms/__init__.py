"""The methods, `groute_py.algorithms.methods`, and the choice of one, of Δ and of number types."""
