"""The interface of a `Result` for the modules that write it to files."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.ids import Numbering


class Answer(Protocol):
    """Shortest paths from one source; the attributes are those of `groute_py.Result`."""

    @property
    def source(self) -> int: ...
    @property
    def distances(self) -> NDArray[Any]: ...
    @property
    def predecessors(self) -> NDArray[np.int64] | None: ...
    @property
    def statistics(self) -> dict[str, Any]: ...
    @property
    def first_id(self) -> int: ...
    @property
    def ids(self) -> NDArray[Any] | None: ...
    @property
    def reverse(self) -> bool: ...
    @property
    def coordinates(self) -> NDArray[np.float64] | None: ...
    @property
    def attribution(self) -> str: ...
    @property
    def numbering(self) -> Numbering: ...
    @property
    def reached(self) -> NDArray[np.bool_]: ...
