"""The methods, `ALGORITHMS` of `methods`, and the choice of one, of Δ and of number types."""
