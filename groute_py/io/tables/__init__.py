"""Tables with a row for each arc: what their columns are, by their titles."""
