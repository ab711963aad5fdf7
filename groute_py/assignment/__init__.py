"""Traffic assignment: flows at which no traveller has a faster way."""
