"""Answers whose arrays are made, or copied, when they are first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.arrays import on_device
from groute_py.results.result import Result
from groute_py.system import memory_limits


class Mirrored:
    """An array on a GPU and in host memory, each copied from the other when first asked for.

    So an answer that `dataclasses.replace` makes of another has its arrays on the GPU too. The
    values are of CuPy or of NumPy, or a function that returns them when they are complete.
    """

    def __init__(self, values: Any) -> None:
        self._given = values

    def __reduce__(self) -> tuple[Any, ...]:
        return Mirrored, (self.on_host,)

    @cached_property
    def _values(self) -> Any:
        return self._given() if callable(self._given) else self._given

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


class Scattered:
    """An array in host memory that is made when it is first asked for.

    It has values at some places, and one value everywhere else.
    """

    def __init__(
        self, count: int, places: NDArray[np.int64], values: NDArray[Any], elsewhere: Any
    ) -> None:
        self._count, self._places = count, places
        self._values, self._elsewhere = values, elsewhere

    @cached_property
    def on_host(self) -> NDArray[Any]:
        """NumPy array, shape (count,)."""
        array = memory_limits.ANSWERS.empty(self._count, self._values.dtype)
        array.fill(self._elsewhere)
        array[self._places] = self._values
        return array


def late(name: str, side: str) -> property:
    """Return a property: a side, ``on_gpu`` or ``on_host``, of the late array of a name.

    The field of the name, which is that in host memory, is set to any array.
    """

    def array(answer: Any) -> Any:
        arrays = vars(answer)[f"_{name}"]
        return None if arrays is None else getattr(arrays, side)

    def put(answer: Any, array: Any) -> None:
        is_late = array is None or isinstance(array, Scattered)
        vars(answer)[f"_{name}"] = array if is_late else Mirrored(array)

    return property(array, put if side == "on_host" else None)


class LateResult(Result):
    """A `Result` whose arrays in host memory are made when they are first asked for."""

    distances: Any = late("distances", "on_host")
    predecessors: Any = late("predecessors", "on_host")


class DeviceResult(LateResult):
    """A `Result` of CuPy arrays; ``statistics`` may be a function that makes them."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "statistics": self.statistics}

    @property
    def statistics(self) -> Any:
        """See `Result`."""
        figures = vars(self)["statistics"]
        if callable(figures):
            figures = vars(self)["statistics"] = figures()
        return figures

    @statistics.setter
    def statistics(self, figures: Any) -> None:
        vars(self)["statistics"] = figures

    distances_device: Any = late("distances", "on_gpu")
    predecessors_device: Any = late("predecessors", "on_gpu")
