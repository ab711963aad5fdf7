"""One file a format, each with `sniff` (by content), `read` and `write`; `graph.files` chooses."""
