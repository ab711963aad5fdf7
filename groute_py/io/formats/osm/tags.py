"""The tags of ways and nodes: who may pass, in which directions, how fast."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from groute_py.io.formats.osm.profiles import (
    BARRIERS,
    BY_OTHER_TAGS,
    SIDEWALKS,
    VALUES,
    Passage,
    Profile,
)

Tags = Mapping[str, str]

FORWARD = frozenset(("yes", "true", "1"))
BACKWARD = frozenset(("-1", "reverse"))
NEITHER = frozenset(("reversible", "alternating"))
"""Values of one-way tags; all others stand for both directions."""

ROUNDABOUTS = frozenset(("roundabout", "circular"))
UNLIMITED = frozenset(("motorway", "motorway_link", "trunk", "trunk_link"))
"""Classes on which the limit ``none`` counts. Elsewhere it means that there is no sign."""

MPH, KNOT = 1.609344, 1.852
UNITS = {"km/h": 1.0, "kmh": 1.0, "kph": 1.0, "mph": MPH, "knots": KNOT}
LIMIT = re.compile(
    r"(?:(?P<country>[a-z]{2})(?:-[a-z]{2,3})?:)?(?:zone:?)?"
    r"(?P<number>\d{1,3}(?:\.\d{1,3})?)\s{0,3}(?P<unit>km/h|kmh|kph|mph|knots|)"
)
IN_MILES = frozenset(("gb", "uk", "us"))
WORDS = {
    **{"walk": 6.0, "living_street": 20.0, "at:living_street": 6.0, "de:living_street": 6.0},
    **{"bicycle_road": 30.0, "urban": 50.0, "rural": 90.0, "motorway": 120.0},
    **dict.fromkeys(("at:rural", "de:rural"), 100.0),
    **{f"{country}:rural": 80.0 for country in ("ch", "dk", "fi", "fr", "nl", "no")},
    **{f"{country}:motorway": 130.0 for country in ("at", "cz", "de", "dk", "fr", "it")},
}
"""Limits in km/h that are words, most of them behind a country, as in ``DE:urban``; those with it
come first (OpenStreetMap's wiki, "Speed limits"; Germany's advisory speed for its motorways)."""

NO_LIMIT = 130.0
LIMIT_KEYS = ("maxspeed", "zone:maxspeed", "maxspeed:type", "source:maxspeed")
"""The first of these that holds a limit counts, behind the one with the direction."""

LEAST_SPEED = 1.0


class Speeds(NamedTuple):
    """Speeds in km/h, along a way and against it; 0 for a direction that is closed."""

    forward: float
    backward: float


class Access(NamedTuple):
    """The access tag that decides: its passage, its key, and whether it is of one direction."""

    passage: Passage
    key: str
    is_directed: bool


def speeds_of(tags: Tags, profile: Profile) -> Speeds | None:
    """Return how fast a way is travelled; None for a way that the profile may not take.

    >>> from groute_py.io.formats.osm.profiles import CAR
    >>> speeds_of({"highway": "residential", "oneway": "yes", "maxspeed": "20 mph"}, CAR)
    Speeds(forward=28.97, backward=0.0)
    """
    if tags.get("area") == "yes":
        return None
    access_tags = {**_implied_access(tags), **tags}
    along = _along_oneway(tags, profile)
    forward, backward = (
        _speed(tags, profile, direction, is_along, _access(access_tags, profile, direction))
        for direction, is_along in zip(("forward", "backward"), along, strict=True)
    )
    return Speeds(forward, backward) if forward or backward else None


def is_blocked(tags: Tags, profile: Profile) -> bool:
    """Return True for a node that cannot be passed: its access tag says so, or it is a barrier.

    The access tags of a crossing are of the way across.
    """
    is_crossing = tags.get("highway") == "crossing" or "crossing" in tags
    access = None if is_crossing else _access(tags, profile)
    if access is None:
        return tags.get("barrier") in BARRIERS[profile.name]
    return access.passage is Passage.CLOSED


def limit_of(text: str, highway: str) -> float | None:
    """Return the lowest speed limit of a text, in km/h; None for text without a limit.

    >>> [limit_of(text, "primary") for text in ("50", "DE:zone:30", "30 mph;DE:urban", "signals")]
    [50.0, 30.0, 48.28032, None]
    """
    limits = []
    for part in text.lower().split(";")[:8]:
        part = part.strip()
        if (match := LIMIT.fullmatch(part)) is not None:
            unit = match["unit"] or ("mph" if match["country"] in IN_MILES else "km/h")
            limits.append(float(match["number"]) * UNITS[unit])
        elif part in WORDS or (part := part.rpartition(":")[2]) in WORDS:
            limits.append(WORDS[part])
        elif part == "none" and highway in UNLIMITED:
            limits.append(NO_LIMIT)
    return min(limits, default=None)


def _implied_access(tags: Tags) -> Tags:
    """Access that tags other than those of access stand for."""
    implied: dict[str, str] = {}
    for (key, value), access in BY_OTHER_TAGS.items():
        if tags.get(key) == value:
            implied.update(access)
    sides = {tags[key] for key in SIDEWALKS if key in tags} - {"no", "none"}
    if sides == {"separate"}:
        implied["foot"] = "use_sidepath"
    return implied


def _access(tags: Tags, profile: Profile, direction: str = "") -> Access | None:
    """Return what the most special key says; within a key the tag of the direction comes first."""
    for key in profile.access:
        for name in (f"{key}:{direction}", key) if direction else (key,):
            if name in tags and (passage := _passage(tags[name], profile)) is not None:
                return Access(passage, key, is_directed=name != key)
    return None


def _passage(text: str, profile: Profile) -> Passage | None:
    """Return the most open of several values."""
    parts = {part.strip() for part in text.split(";")}
    if parts.intersection(profile.access):
        return Passage.OPEN
    passages = {VALUES.get(part) for part in parts}
    return next((passage for passage in Passage if passage in passages), None)


def _speed(
    tags: Tags, profile: Profile, direction: str, is_along: bool, access: Access | None
) -> float:
    """Return the speed in one direction, 0 where that is closed."""
    highway = tags.get("highway", "")
    passage, key, is_directed = access or Access(Passage.OPEN, "access", is_directed=False)
    is_special = key != "access"
    opens_direction = is_special and is_directed and passage is Passage.OPEN
    speed = profile.speeds.get(highway)
    if speed is None and is_special:
        speed = profile.on_request.get(highway)
    if speed is None or passage is Passage.CLOSED or not (is_along or opens_direction):
        return 0.0
    if passage is Passage.DISMOUNT:
        return min(speed, profile.pushing)
    return _limited(speed, tags, direction, profile)


def _along_oneway(tags: Tags, profile: Profile) -> tuple[bool, bool]:
    """Return the directions, forward and backward, that one-way tags leave open."""
    value = next((tags[key] for key in profile.oneway if key in tags), None)
    if value is None and profile.class_implies_oneway:
        is_round = tags.get("junction") in ROUNDABOUTS
        value = "yes" if is_round or tags.get("highway") == "motorway" else None
    if value in NEITHER:
        return False, False
    if profile.has_contraflow and profile.oneway[0] not in tags and _has_lane_against(tags):
        return True, True
    return value not in BACKWARD, value not in FORWARD


def _has_lane_against(tags: Tags) -> bool:
    """Return True if bicycles have a lane against a one-way road."""
    sides = ("cycleway", "cycleway:left", "cycleway:right", "cycleway:both")
    return any(
        tags.get(side, "").startswith("opposite") or tags.get(f"{side}:oneway") in ("-1", "no")
        for side in sides
    )


def _limited(speed: float, tags: Tags, direction: str, profile: Profile) -> float:
    """Return the speed that is driven in view of the limit."""
    highway = tags.get("highway", "")
    texts = (tags.get(key, "") for key in (f"maxspeed:{direction}", *LIMIT_KEYS))
    limits = (limit_of(text, highway) for text in texts)
    limit = next((limit for limit in limits if limit is not None), None)
    if limit is None:
        return float(speed)
    if profile.limit_share is None:
        return max(min(speed, limit), LEAST_SPEED)
    return max(round(limit * profile.limit_share, 2), LEAST_SPEED)
