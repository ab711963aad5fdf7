"""Who may pass, as data: the values of access tags, and what other tags say of access.

Values mean what they do on https://wiki.openstreetmap.org/wiki/Key:access, barriers
on https://wiki.openstreetmap.org/wiki/Key:barrier. A value that is not in this table (``unknown``,
``discouraged``, a typing error) says nothing, and the next, more general key decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class Passage(Enum):
    """What a value of an access tag allows. Local traffic is not told from other traffic."""

    OPEN = "anybody may pass"
    DISMOUNT = "bicycles are pushed"
    CLOSED = "only those may pass who have a special right or another vehicle"


VALUES: Final[Mapping[str, Passage]] = {
    **dict.fromkeys(
        ("yes", "designated", "official", "permissive", "public", "destination", "customers"),
        Passage.OPEN,
    ),
    "dismount": Passage.DISMOUNT,
    **dict.fromkeys(
        (
            *("no", "private", "permit", "residents", "restricted", "service", "military"),
            *("agricultural", "forestry", "delivery", "emergency", "use_sidepath"),
            *("foot", "bicycle", "moped", "motorcycle", "horse"),
            *("psv", "bus", "tourist_bus", "coach", "taxi", "hgv", "goods", "disabled"),
        ),
        Passage.CLOSED,
    ),
}
"""A value that names a key of the profile itself is open to it, as ``access=bicycle``."""

BY_OTHER_TAGS: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("motorroad", "yes"): {"bicycle": "no", "foot": "no"},
    ("service", "emergency_access"): {"motor_vehicle": "emergency"},
}
"""Access that another tag of a way stands for. An access tag of the same key overrules it."""

SIDEWALKS: Final = ("sidewalk", "sidewalk:both", "sidewalk:left", "sidewalk:right")
"""Where all pavements of a road are ``separate`` ways, pedestrians use those."""

_FOR_WALKERS = ("stile", "kissing_gate", "turnstile", "full-height_turnstile")
_FOR_NOBODY = ("fence", "wall", "hedge", "city_wall", "retaining_wall")

BARRIERS: Final[Mapping[str, frozenset[str]]] = {
    "car": frozenset(
        (
            *("bollard", "block", "chain", "jersey_barrier", "planter", "log", "debris"),
            *("cycle_barrier", "motorcycle_barrier", "bus_trap", "sump_buster", "horse_stile"),
            *_FOR_WALKERS,
            *_FOR_NOBODY,
        )
    ),
    "bike": frozenset((*_FOR_WALKERS, *_FOR_NOBODY)),
    "foot": frozenset(_FOR_NOBODY),
}
"""Barriers in a way that a profile does not pass unless an access tag of the node opens them."""
