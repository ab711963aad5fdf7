"""What a loaded graph answers beside one source: matrices, nearest facilities, routes."""
