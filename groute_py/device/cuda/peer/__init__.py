"""The GPUs of a team: which reach each other, and what they map of each other."""
