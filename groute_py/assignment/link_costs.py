"""Travel times of links by their volume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, quoted
from groute_py.graph.csr import Graph

Values = NDArray[np.float64]


class LinkError(GraphError):
    """An error of a link, by its number."""

    def __init__(self, link: int, problem: str) -> None:
        super().__init__(problem)
        self.link = link


class LinkTimes(Protocol):
    """Times that do not fall when volumes rise; volumes are float64, shape (m,)."""

    def times(self, volumes: Values) -> Values:
        """Return the time of each link."""

    def slopes(self, volumes: Values) -> Values:
        """Return the derivatives of the times by the volume of the same link."""

    def integrals(self, volumes: Values) -> Values:
        """Return the integrals of the times from volume 0."""


class BPR(LinkTimes):
    """Times of the Bureau of Public Roads (1964): ``t0 (1 + b (volume / capacity) ** power)``.

    Args:
        free_flow_times: t0, at volume 0, shape (m,), none negative.
        capacities: shape (m,) or a number; positive where b and the power are.
        b, power: shape (m,) or numbers, none negative; a positive power is at least 1.

    Raises:
        GraphError: a value is missing, infinite or negative, naming the first link.

    >>> BPR([10.0], [100.0]).times(np.array([200.0])).tolist()
    [34.0]
    """

    formula = "bpr"

    def __init__(
        self, free_flow_times: Any, capacities: Any, b: Any = 0.15, power: Any = 4.0
    ) -> None:
        count = np.size(free_flow_times)
        free, room, factor, power = (
            checked_values(name, values, count)
            for name, values in (
                ("free-flow time", free_flow_times),
                ("capacity", capacities),
                ("b", b),
                ("power", power),
            )
        )
        is_delayed = (free > 0) & (factor > 0) & (power > 0)
        if (wrong := is_delayed & (room <= 0)).any():
            link = int(wrong.argmax())
            raise LinkError(link, f"the capacity of link {link} is 0, and it has a delay")
        if (wrong := is_delayed & (power < 1)).any():
            link = int(wrong.argmax())
            problem = "below 1 a delay is infinitely steep at volume 0"
            raise LinkError(link, f"the power of link {link} is {power[link]}: {problem}")
        self.capacities = room
        self._base = np.where(power > 0, free, free * (1 + factor))
        self._delay = np.where(is_delayed, free * factor, 0.0)
        self._power, self._room = np.where(is_delayed, power, 1.0), np.where(is_delayed, room, 1.0)

    @property
    def coefficients(self) -> Values:
        """Return those of the formula, shape (4, m), for devices."""
        return np.stack([self._base, self._delay, self._room, self._power])

    def times(self, volumes: Values) -> Values:
        return np.asarray(self._base + self._delay * (volumes / self._room) ** self._power)

    def slopes(self, volumes: Values) -> Values:
        steepness = self._delay * self._power / self._room
        return np.asarray(steepness * (volumes / self._room) ** (self._power - 1))

    def integrals(self, volumes: Values) -> Values:
        delays = self._delay * (volumes / self._room) ** self._power
        return np.asarray(volumes * (self._base + delays / (self._power + 1)))


class Conical(LinkTimes):
    """Times by a cone (Spiess, "Conical volume-delay functions", 1990), for x = volume / capacity.

    ``t0 (2 + sqrt(alpha² (1 - x)² + beta²) - alpha (1 - x) - beta)``, where beta is
    ``(2 alpha - 1) / (2 alpha - 2)``.

    Args:
        free_flow_times: t0, shape (m,), none negative.
        capacities: shape (m,) or a number, positive.
        alpha: shape (m,) or a number, greater than 1.

    Raises:
        GraphError: a value is wrong, naming the first link.

    >>> Conical([10.0], [100.0]).times(np.array([100.0])).tolist()
    [20.0]
    """

    formula = "conical"

    def __init__(self, free_flow_times: Any, capacities: Any, alpha: Any = 4.0) -> None:
        count = np.size(free_flow_times)
        self._free = checked_values("free-flow time", free_flow_times, count)
        self.capacities = checked_values("capacity", capacities, count)
        self._alpha = checked_values("alpha", alpha, count)
        for name, values, least in (("capacity", self.capacities, 0), ("alpha", self._alpha, 1)):
            if (wrong := values <= least).any():
                raise GraphError(f"{name} of link {int(wrong.argmax())} is not above {least}")
        self._beta = (2 * self._alpha - 1) / (2 * self._alpha - 2)

    @property
    def coefficients(self) -> Values:
        """Return those of the formula, shape (4, m), for devices."""
        return np.stack([self._free, self._alpha, self._beta, self.capacities])

    def times(self, volumes: Values) -> Values:
        left = self._alpha * (1 - volumes / self.capacities)
        return self._free * (2 + np.hypot(left, self._beta) - left - self._beta)

    def slopes(self, volumes: Values) -> Values:
        left = self._alpha * (1 - volumes / self.capacities)
        steepness = self._free * self._alpha / self.capacities
        return steepness * (1 - left / np.hypot(left, self._beta))

    def integrals(self, volumes: Values) -> Values:
        scale = self.capacities / self._alpha
        left = self._alpha * (1 - volumes / self.capacities)
        cone = self._antiderivative(self._alpha) - self._antiderivative(left)
        return self._free * ((2 - self._beta) * volumes + scale * cone)

    def _antiderivative(self, left: Values) -> Values:
        """The antiderivative of sqrt(left² + beta²) - left."""
        root = np.hypot(left, self._beta)
        area = (left * root + self._beta**2 * np.arcsinh(left / self._beta)) / 2
        return np.asarray(area - left**2 / 2)


def bpr_of(graph: Graph) -> BPR:
    """The times of a graph that has their columns, as a TNTP network has."""
    columns = graph.columns
    for name in ("free_flow_time", "capacity"):
        if name not in columns:
            raise GraphError(
                f"{quoted(graph.name)} has no column {name}; give times=groute_py.BPR(…)"
            )
    defaults: Mapping[str, Any] = {"b": 0.15, "power": 4.0}
    more = {name: columns.get(name, value) for name, value in defaults.items()}
    try:
        return BPR(columns["free_flow_time"], columns["capacity"], **more)
    except LinkError as problem:
        ends = (
            graph.numbering.id_of(int(ends[problem.link])) for ends in (graph.tails(), graph.heads)
        )
        where = " to ".join(map(quoted, ends))
        raise GraphError(f"{quoted(graph.name)}: link from {where}: {problem}") from None


def checked_values(name: str, values: Any, count: int) -> Values:
    """Values of links as float64, shape (m,); none is negative, missing or infinite."""
    array = np.asarray(values, np.float64)
    if array.shape not in ((), (count,)):
        raise GraphError(f"{count:,} links need {count:,} values of {name}, not {array.shape}")
    array = np.broadcast_to(array, (count,))
    if not (fine := np.isfinite(array) & (array >= 0)).all():
        link = int((~fine).argmax())
        problem = f"the {name} of link {link} is {array[link]}; none is negative or missing"
        raise LinkError(link, problem)
    return array
