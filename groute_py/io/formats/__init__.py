"""One module a format, each with `sniff` (by content), `read` and `write`; `registry` chooses."""
