"""A graph that stays open on all ranks, and what is asked of it."""
