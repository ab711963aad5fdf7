"""An answer of nearest facilities whose arrays stay on the GPU."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.ids import Numbering
from groute_py.jobs.facilities import NearestFacilities


class DeviceNearest(NearestFacilities):
    """As `NearestFacilities`; host arrays are made of the GPU's when they are first asked for.

    Args:
        facilities, distances, next: CuPy arrays, types and conventions of `NearestFacilities`.
        to_facility, statistics, numbering, attribution: as there.
    """

    def __init__(
        self,
        facilities: Any,
        distances: Any,
        next: Any,
        to_facility: bool,
        statistics: dict[str, Any],
        numbering: Numbering,
        attribution: str,
    ) -> None:
        vars(self).update(to_facility=to_facility, statistics=statistics)
        vars(self).update(numbering=numbering, attribution=attribution)
        vars(self).update(_on_device=(facilities, distances, next))

    @property
    def facilities_device(self) -> Any:
        """CuPy array, as `NearestFacilities.facilities`."""
        return vars(self)["_on_device"][0]

    @property
    def distances_device(self) -> Any:
        """CuPy array, as `NearestFacilities.distances`."""
        return vars(self)["_on_device"][1]

    @property
    def next_device(self) -> Any:
        """CuPy array, as `NearestFacilities.next`."""
        return vars(self)["_on_device"][2]

    @cached_property
    def facilities(self) -> NDArray[np.int64]:
        """As in `NearestFacilities`, downloaded."""
        return downloaded(self.facilities_device)

    @cached_property
    def distances(self) -> NDArray[Any]:
        """As in `NearestFacilities`, downloaded."""
        return downloaded(self.distances_device)

    @cached_property
    def next(self) -> NDArray[np.int64]:
        """As in `NearestFacilities`, downloaded."""
        return downloaded(self.next_device)


def downloaded(values: Any) -> NDArray[Any]:
    """The array in host memory, shape (k,)."""
    from groute_py.device.cuda.runtime.transfer import to_host  # which takes CuPy

    return to_host(values)


def left_on_gpu(found: NearestFacilities) -> DeviceNearest:
    """The same answer with its arrays on the current GPU."""
    from groute_py.device.cuda.runtime.transfer import to_device

    return DeviceNearest(
        to_device(found.facilities, np.int64),
        to_device(found.distances, found.distances.dtype),
        to_device(found.next, np.int64),
        found.to_facility,
        found.statistics,
        found.numbering,
        found.attribution,
    )
