"""An exception that ``except`` clauses for SciPy's and for groute-py's error both catch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scipy.sparse import csgraph as scipy_csgraph

from groute_py import errors


class NegativeCycleError(errors.NegativeCycleError, scipy_csgraph.NegativeCycleError):  # type: ignore[misc]
    """`groute_py.NegativeCycleError` that is also `scipy.sparse.csgraph.NegativeCycleError`."""


@contextmanager
def scipy_errors() -> Iterator[None]:
    """Raise what SciPy's functions raise."""
    try:
        yield
    except errors.NegativeCycleError as error:
        raise NegativeCycleError(error.cycle, error.weight) from None
