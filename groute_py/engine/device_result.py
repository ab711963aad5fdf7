"""An answer whose arrays stay on the GPU."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.array_like import on_device
from groute_py.results.result import Result


class Mirrored:
    """An array on a GPU and in host memory, each copied from the other when first asked for.

    So an answer that `dataclasses.replace` makes of another has its arrays on the GPU too. The
    values are of CuPy or of NumPy.
    """

    def __init__(self, values: Any) -> None:
        self._values = values

    @cached_property
    def on_gpu(self) -> Any:
        """CuPy array; of one in host memory on the current GPU."""
        if on_device(self._values):
            return self._values
        from groute_py.device.cuda.runtime.transfer import to_device  # which takes CuPy

        return to_device(self._values, self._values.dtype)

    @cached_property
    def on_host(self) -> NDArray[Any]:
        """NumPy array."""
        if not on_device(self._values):
            return self._values  # type: ignore[no-any-return]
        from groute_py.device.cuda.runtime.transfer import to_host

        return to_host(self._values)


def mirrored(name: str, side: str) -> property:
    """Return a property: a side, ``on_gpu`` or ``on_host``, of the `Mirrored` array of a name."""

    def array(answer: Any) -> Any:
        arrays = vars(answer)[f"_{name}"]
        return None if arrays is None else getattr(arrays, side)

    return property(array)


class DeviceResult(Result):
    """A `Result` of CuPy arrays; host arrays are made of them when they are first asked for."""

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
        vars(self).update(carried={})
        tree = None if predecessors is None else Mirrored(predecessors)
        vars(self).update(_distances=Mirrored(distances), _predecessors=tree)

    distances: Any = mirrored("distances", "on_host")
    predecessors: Any = mirrored("predecessors", "on_host")
    distances_device: Any = mirrored("distances", "on_gpu")
    predecessors_device: Any = mirrored("predecessors", "on_gpu")
