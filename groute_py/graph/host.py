"""From anything that holds an array to one that NumPy can work on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError


def host_array(values: Any) -> NDArray[Any]:
    """The values as an array in host memory, without a copy where they lie there already.

    Takes arrays, sequences, and what has ``__array__``, ``__array_interface__``, a buffer or
    ``__dlpack__`` (Arrow columns, pandas series, PyTorch and JAX tensors on the CPU).

    Raises:
        GraphError: the values lie on a GPU.

    >>> host_array(memoryview(b"ab")).tolist()
    [97, 98]
    """
    if hasattr(values, "__cuda_array_interface__"):
        raise GraphError(
            f"a {type(values).__name__} on a GPU cannot be taken from there yet; copy it to the "
            "host, such as by cupy.asnumpy(array) or tensor.cpu()"
        )
    spoken = hasattr(values, "__array__") or hasattr(values, "__array_interface__")
    if hasattr(values, "__dlpack__") and not spoken:
        try:
            return np.from_dlpack(values)
        except (RuntimeError, BufferError) as problem:
            raise GraphError(
                f"a {type(values).__name__} cannot be read where it lies ({problem}); copy it to "
                "the host first"
            ) from problem
    return np.asarray(values)
