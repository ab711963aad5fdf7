"""More than one source: rows of distances, the nearest of several, potentials, all pairs."""
