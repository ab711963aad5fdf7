"""One file a format, each with `sniff` (by content), `read` and `write`; `graph.files` chooses.

`edge_fields`, `edge_titles`, `edge_dialect` and `ldbc_vertices` are parts of `edge_list`.
"""
