"""An answer of nearest facilities whose arrays stay on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.engine.mirrored import Mirrored
from groute_py.graph.ids import Numbering
from groute_py.jobs.facilities import NearestFacilities
from groute_py.system.environment import local_rank


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
        vars(self).update(_facilities=Mirrored(facilities), _next=Mirrored(next))
        vars(self).update(_distances=Mirrored(distances))

    @property
    def facilities_device(self) -> Any:
        """CuPy array, as `NearestFacilities.facilities`."""
        return vars(self)["_facilities"].on_gpu

    @property
    def distances_device(self) -> Any:
        """CuPy array, as `NearestFacilities.distances`."""
        return vars(self)["_distances"].on_gpu

    @property
    def next_device(self) -> Any:
        """CuPy array, as `NearestFacilities.next`."""
        return vars(self)["_next"].on_gpu

    @property
    def facilities(self) -> NDArray[np.int64]:
        """As in `NearestFacilities`, downloaded."""
        return vars(self)["_facilities"].on_host  # type: ignore[no-any-return]

    @property
    def distances(self) -> NDArray[Any]:
        """As in `NearestFacilities`, downloaded."""
        return vars(self)["_distances"].on_host  # type: ignore[no-any-return]

    @property
    def next(self) -> NDArray[np.int64]:
        """As in `NearestFacilities`, downloaded."""
        return vars(self)["_next"].on_host  # type: ignore[no-any-return]


def left_on_gpu(found: NearestFacilities) -> DeviceNearest:
    """The same answer with its arrays on the GPU of the only rank.

    Raises:
        InputError: the GPU has too little memory.
    """
    from groute_py.device.cuda.runtime.gpu import label_of, own_gpu  # which take CuPy
    from groute_py.device.cuda.runtime.short_memory import within_memory
    from groute_py.device.cuda.runtime.transfer import to_device

    what = f"the nearest facilities of {len(found.distances):,} vertices"
    label = label_of(own_gpu(local_rank(0)))
    with within_memory(what, label, "leave out download=False"):
        return DeviceNearest(
            to_device(found.facilities, np.int64),
            to_device(found.distances, found.distances.dtype),
            to_device(found.next, np.int64),
            found.to_facility,
            found.statistics,
            found.numbering,
            found.attribution,
        )
