"""An array of an answer that stays on the GPU, and its copy in host memory."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from groute_py.graph.array_like import on_device


class Mirrored:
    """An array on a GPU and in host memory, each copied from the other when first asked for.

    So an answer that `dataclasses.replace` makes of another has its arrays on the GPU too.

    Args:
        values: of CuPy or of NumPy, shape (n,).
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
