"""Profiles: the classes of ways that each may take, and how fast.

A class is the value of the tag ``highway``. ``docs/openstreetmap.md`` has the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple

from groute_py.errors import InputError, quote


class Profile(NamedTuple):
    """A kind of traveller.

    ``limit_share`` of a speed limit is driven instead of the speed of the class; None where a limit
    only bounds that.
    """

    name: str
    speeds: Mapping[str, float]  # km/h on classes that are open unless a tag closes them
    on_request: Mapping[str, float]  # km/h on classes that are closed unless a tag opens them
    access: tuple[str, ...]  # keys of tags, the most special first
    oneway: tuple[str, ...]  # keys of tags, the most special first
    pushing: float = 0.0  # km/h where a tag says ``dismount``; 0 closes
    has_contraflow: bool = False  # lanes against a one-way road count
    class_implies_oneway: bool = True  # of motorways and roundabouts
    limit_share: float | None = None


CAR = Profile(
    "car",
    {
        "motorway": 100, "motorway_link": 70, "trunk": 70, "trunk_link": 60,
        "primary": 65, "primary_link": 50, "secondary": 60, "secondary_link": 50,
        "tertiary": 50, "tertiary_link": 40, "unclassified": 40, "residential": 30,
        "living_street": 7, "service": 20, "road": 20,
    },
    {"track": 15, "pedestrian": 7},
    ("motorcar", "motor_vehicle", "vehicle", "access"),
    ("oneway:motor_vehicle", "oneway"),
    limit_share=0.9,
)  # fmt: skip

BIKE = Profile(
    "bike",
    {
        "cycleway": 18, "primary": 18, "primary_link": 18, "secondary": 18, "secondary_link": 18,
        "tertiary": 18, "tertiary_link": 18, "unclassified": 18, "residential": 18,
        "living_street": 12, "service": 15, "road": 15, "track": 12, "path": 12,
    },
    {
        **dict.fromkeys(("motorway", "motorway_link", "trunk", "trunk_link"), 18),
        "footway": 8, "pedestrian": 8, "bridleway": 8,
    },
    ("bicycle", "vehicle", "access"),
    ("oneway:bicycle", "oneway"),
    pushing=4,
    has_contraflow=True,
)  # fmt: skip

FOOT = Profile(
    "foot",
    {
        **dict.fromkeys(
            (
                "footway", "pedestrian", "path", "track", "living_street", "residential",
                "service", "unclassified", "road", "tertiary", "tertiary_link", "secondary",
                "secondary_link", "primary", "primary_link", "platform", "corridor",
            ),
            5,
        ),
        "steps": 2.5,
    },
    dict.fromkeys(
        ("motorway", "motorway_link", "trunk", "trunk_link", "cycleway", "bridleway"), 5
    ),
    ("foot", "access"),
    ("oneway:foot",),
    pushing=5,
    class_implies_oneway=False,
)  # fmt: skip

PROFILES = {profile.name: profile for profile in (CAR, BIKE, FOOT)}


def profile_of(name: str | None) -> Profile:
    """Return the profile of a name; that of a car for None."""
    if name is None:
        return CAR
    if name not in PROFILES:
        names = ", ".join(PROFILES)
        raise InputError(f"profile {quote(name)} is unknown; choose one of {names}")
    return PROFILES[name]


class Passage(Enum):
    """The meaning of a value of an access tag. Local traffic is not told from other traffic."""

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
"""Tags of pavements: where all of a road are ``separate`` ways, pedestrians use those."""

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
