"""Runs a method on all ranks: set up, loop until quiet, gather. `memory` has plans of its room."""
