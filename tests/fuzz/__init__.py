"""A mutation fuzzer for every file that groute-py reads: ``make fuzz``, or ``python -m fuzz``.

Each input is a small valid file (`seeds`) after a few mutations (`mutations`, `containers`). A
worker process with limited memory reads it (`worker`, `readers`). Reading has to end in a graph
that keeps its own rules (`invariants`), or in one error of groute-py, within the time limit, and
may write to its own folder alone (`watch`). Whatever else happens is a fault; it is minimised
(`minimise`) and saved. Faults that were found are kept in ``tests/corpus`` and replayed by
``tests/formats/test_corpus.py``.
"""
