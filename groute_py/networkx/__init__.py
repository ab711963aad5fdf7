"""A backend for NetworkX: its shortest-path functions, solved by groute_py.

`info.py` is what NetworkX reads when it is imported, and loads nothing; `backend.py` is loaded by
the first call that goes to this backend.
"""
