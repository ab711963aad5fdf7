"""One module a format: `BEGINS` (its first bytes), `read`, `write`, and `sniff` where needed."""
