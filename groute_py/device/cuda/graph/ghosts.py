"""Ghosts: local numbers for vertices that peers own; see kernels/exchange/PROTOCOL.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ghosts:
    """The numbering of a rank: its own vertices first, then those of all other ranks in order."""

    me: int  # this rank's number in the team
    owned: list[int]  # counts of consecutive ranges

    @property
    def rows(self) -> int:
        """Vertices of the team: each rank has a row for every one of them."""
        return sum(self.owned)

    @property
    def before(self) -> int:
        """Ghosts of the ranks before this one."""
        return sum(self.owned[: self.me])

    def earlier(self, peer: int, owner: int) -> list[int]:
        """The ranks whose vertices come before those of ``owner`` at ``peer``."""
        others = [rank for rank in range(owner) if rank != peer]
        return [peer, *others] if owner != peer else []

    def at(self, peer: int, owner: int) -> int:
        """The number that the first vertex of ``owner`` has at ``peer``."""
        return sum(self.owned[rank] for rank in self.earlier(peer, owner))
