"""Pairs that the options of a command name: those of a file, or of all sources and all targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groute_py.cli.places import NamedVertices, OptionVertices
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groute_py.graph.csr import Graph


@dataclass(frozen=True, eq=False)
class FilePairs:
    """Finds the pairs of a file, by ids or as points, once the graph is there."""

    ends: NamedVertices
    path: Path

    def __call__(self, whole: Graph) -> NDArray[Any]:
        from groute_py.io.pairs import read_pairs_in

        with phase("read"):
            pairs = self.ends.pairs(whole)
            if pairs is None:
                pairs = read_pairs_in(self.path, whole.numbering, whole.name)
            return pairs

    @property
    def attributes(self) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        """The attributes of points, by role and title: a value for each pair."""
        return self.ends.pair_attributes()


class EveryPair:
    """Finds the pairs of each source of an option and each target of another."""

    def __init__(self, sources: OptionVertices, targets: OptionVertices) -> None:
        self._ends = sources, targets
        self._counts = 0, 0

    def __call__(self, whole: Graph) -> NDArray[Any]:
        import numpy as np

        from groute_py.io.pairs import PAIR_BYTES
        from groute_py.memory.host import refuse_beyond

        sources, targets = (ends(whole) for ends in self._ends)
        self._counts = len(sources), len(targets)
        count = len(sources) * len(targets)
        refuse_beyond(PAIR_BYTES * count, f"{count:,} pairs", "name fewer, or ask for a matrix")
        return np.stack(np.meshgrid(sources, targets, indexing="ij"), axis=-1).reshape(-1, 2)

    @property
    def attributes(self) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        """The attributes of points, by role and title: a value for each pair."""
        import numpy as np

        rows = np.indices(self._counts).reshape(2, -1)
        return {
            ends.role: {title: values[some] for title, values in ends.attributes.items()}
            for ends, some in zip(self._ends, rows, strict=True)
        }
