"""Profiles: the classes of ways that each may take, and how fast.

A class is the value of the tag ``highway``. ``docs/openstreetmap.md`` has the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from groute_py.errors import InputError, quote


class Profile(NamedTuple):
    """A kind of traveller.

    Attributes:
        speeds: km/h on the classes that are open unless a tag closes them.
        on_request: km/h on the classes that are closed unless a tag opens them.
        access: the keys of tags that open and close, the most special first.
        oneway: the keys of tags that say which way is open, the most special first.
        pushing: km/h where a tag says ``dismount``; 0 closes.
        has_contraflow: lanes against a one-way road count.
        class_implies_oneway: motorways and roundabouts are one-way without a tag.
        limit_share: the share of a speed limit that is driven instead of the speed of the class;
            None where a limit only bounds that.
    """

    name: str
    speeds: Mapping[str, float]
    on_request: Mapping[str, float]
    access: tuple[str, ...]
    oneway: tuple[str, ...]
    pushing: float = 0.0
    has_contraflow: bool = False
    class_implies_oneway: bool = True
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
        known = ", ".join(PROFILES)
        raise InputError(f"profile {quote(name)} is unknown; choose one of {known}")
    return PROFILES[name]
