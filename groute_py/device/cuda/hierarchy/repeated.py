"""Work of many launches that is done again and again, as a graph of launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy as cp


class Repeated:
    """Launches in the current stream with the same arguments each time; one launch for the host."""

    def __init__(self, launch: Callable[[], None]) -> None:
        self._launch, self._graph = launch, None

    def __call__(self) -> None:
        """Launch in the current stream; the first time one by one, as kernels are loaded then."""
        if self._graph is not None:
            self._graph.launch(cp.cuda.get_current_stream())
            return
        self._launch()
        self._graph = self._captured()

    def _captured(self) -> Any:
        stream = cp.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            self._launch()
            return stream.end_capture()
