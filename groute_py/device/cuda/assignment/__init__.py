"""Traffic assignment on a GPU."""
