"""What the tags of a way say: who may travel it, in which directions, how fast."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from groute_py.io.formats.osm.profiles import Profile

Tags = Mapping[str, str]

CLOSED = frozenset(
    (
        *("no", "private", "agricultural", "forestry", "military", "emergency"),
        *("psv", "bus", "use_sidepath"),
    )
)
"""Values of access that keep everybody out who has no special right; all others let in."""

OPEN = frozenset(
    ("yes", "designated", "permissive", "official", "destination", "customers", "permit")
)
"""Values that open what is closed unless a tag says otherwise."""

FORWARD = frozenset(("yes", "true", "1"))
BACKWARD = frozenset(("-1", "reverse"))
NEITHER = frozenset(("reversible", "alternating"))
"""Values of one-way tags; all others stand for both directions."""

ROUNDABOUTS = frozenset(("roundabout", "circular"))
BARRIERS = frozenset(
    ("bollard", "block", "chain", "debris", "fence", "hedge", "jersey_barrier", "log", "wall")
)
"""Barriers in a way that stop whatever has wheels but a bicycle."""

MPH, KNOT = 1.609344, 1.852
UNITS = {"": 1.0, "km/h": 1.0, "kmh": 1.0, "kph": 1.0, "mph": MPH, "knots": KNOT}
LIMIT = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)\s{0,3}(km/h|kmh|kph|mph|knots|)")
WORDS = {"none": 130.0, "walk": 6.0, "urban": 50.0, "rural": 90.0, "motorway": 120.0}
"""Limits in km/h that are words, the last three behind a country, as in ``DE:urban``."""

LEAST_SPEED = 1.0


class Speeds(NamedTuple):
    """In km/h, along a way and against it; 0 for a direction that is closed."""

    forward: float
    backward: float


def speeds_of(tags: Tags, profile: Profile) -> Speeds | None:
    """How fast a way is travelled; None for a way that the profile may not take.

    >>> from groute_py.io.formats.osm.profiles import CAR
    >>> speeds_of({"highway": "residential", "oneway": "yes", "maxspeed": "20 mph"}, CAR)
    Speeds(forward=28.97, backward=0.0)
    """
    speed = _class_speed(tags, profile)
    if speed is None:
        return None
    forward, backward = _directions(tags, profile)
    if not forward and not backward:
        return None
    return Speeds(
        _limited(speed, tags, "maxspeed:forward", profile) if forward else 0.0,
        _limited(speed, tags, "maxspeed:backward", profile) if backward else 0.0,
    )


def is_blocked(tags: Tags, profile: Profile) -> bool:
    """Whether nobody passes a node: a barrier, or one that is closed by its access."""
    for key in profile.access:
        if key in tags:
            return tags[key] in CLOSED
    return profile.name == "car" and tags.get("barrier") in BARRIERS


def _class_speed(tags: Tags, profile: Profile) -> float | None:
    kind = tags.get("highway", "")
    if tags.get("area") == "yes":
        return None
    access = next((tags[key] for key in profile.access if key in tags), None)
    if access in CLOSED:
        return None
    if kind in profile.speeds:
        return profile.speeds[kind]
    special = next((tags[key] for key in profile.access[:-1] if key in tags), None)
    return profile.on_request.get(kind) if special in OPEN else None


def _directions(tags: Tags, profile: Profile) -> tuple[bool, bool]:
    said = next((tags[key] for key in profile.oneway if key in tags), None)
    if said is None and profile.implied:
        is_round = tags.get("junction") in ROUNDABOUTS
        said = "yes" if is_round or tags.get("highway") == "motorway" else None
    if said in NEITHER:
        return False, False
    forward, backward = said not in BACKWARD, said not in FORWARD
    if profile.against and profile.oneway[0] not in tags and _has_lane_against(tags):
        return True, True
    return forward, backward


def _has_lane_against(tags: Tags) -> bool:
    """Whether bicycles have a lane against a one-way road."""
    sides = ("cycleway", "cycleway:left", "cycleway:right", "cycleway:both")
    return any(
        tags.get(side, "").startswith("opposite") or tags.get(f"{side}:oneway") in ("-1", "no")
        for side in sides
    )


def _limited(speed: float, tags: Tags, directed: str, profile: Profile) -> float:
    limit = limit_of(tags.get(directed, tags.get("maxspeed", "")))
    if limit is None:
        return float(speed)
    if profile.limit_share is None:
        return max(min(speed, limit), LEAST_SPEED)
    return max(round(limit * profile.limit_share, 2), LEAST_SPEED)


def limit_of(text: str) -> float | None:
    """A speed limit in km/h, the least of several; None for what is none.

    >>> limit_of("50"), limit_of("30 mph;DE:urban"), limit_of("signals")
    (50.0, 48.28032, None)
    """
    limits = []
    for part in text.lower().split(";")[:8]:
        part = part.strip()
        if (found := LIMIT.fullmatch(part)) is not None:
            limits.append(float(found[1]) * UNITS[found[2]])
        elif (word := part.rpartition(":")[2]) in WORDS:
            limits.append(WORDS[word])
    return min(limits, default=None)
