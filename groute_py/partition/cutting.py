"""The user's choice of a cut; imports nothing, for it is needed to show ``--help``."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Cutting(NamedTuple):
    """The choices for a cut, as `groute_py.engine.options.Options` explains them."""

    partition: str = "arcs"
    order: str = "auto"
    coordinates: str | Path | None = None

    @property
    def renumbers(self) -> bool:
        """True if an order was chosen."""
        return self.order not in ("auto", "none")
