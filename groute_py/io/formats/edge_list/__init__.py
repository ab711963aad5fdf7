"""Edge lists: the format is `edge_list`; the other modules are its parts."""
