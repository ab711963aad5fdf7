"""An answer whose arrays stay on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.engine.mirrored import Mirrored
from groute_py.results.result import Result


class DeviceResult(Result):
    """As `Result`; host arrays are made of the GPU's when they are first asked for.

    Args:
        source, statistics, first_id, ids, reverse, coordinates, attribution: as in `Result`.
        distances, predecessors: CuPy arrays, types and conventions of `Result`.
    """

    def __init__(
        self,
        source: int,
        distances: Any,
        predecessors: Any,
        statistics: dict[str, Any],
        first_id: int,
        ids: NDArray[Any] | None,
        reverse: bool = False,
        coordinates: NDArray[np.float64] | None = None,
        attribution: str = "",
    ) -> None:
        vars(self).update(source=source, statistics=statistics, first_id=first_id, ids=ids)
        vars(self).update(reverse=reverse, coordinates=coordinates, attribution=attribution)
        tree = None if predecessors is None else Mirrored(predecessors)
        vars(self).update(_distances=Mirrored(distances), _predecessors=tree)

    @property
    def distances_device(self) -> Any:
        """CuPy array, as `Result.distances`."""
        return vars(self)["_distances"].on_gpu

    @property
    def predecessors_device(self) -> Any:
        """CuPy array, as `Result.predecessors`, or None."""
        tree = vars(self)["_predecessors"]
        return None if tree is None else tree.on_gpu

    @property
    def distances(self) -> NDArray[Any]:
        """As in `Result`, downloaded."""
        return vars(self)["_distances"].on_host  # type: ignore[no-any-return]

    @property
    def predecessors(self) -> NDArray[Any] | None:
        """As in `Result`, downloaded."""
        tree = vars(self)["_predecessors"]
        return None if tree is None else tree.on_host
