"""Tags of ways and nodes of OpenStreetMap: who may pass, in which direction, how fast."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("osmium")
from support.extracts import Extract

import groute_py
from groute_py.io.formats.osm.profiles import PROFILES
from groute_py.io.formats.osm.tags import Speeds, speeds_of
from groute_py.io.graph_file import read_graph

BOTH, ALONG, AGAINST = (True, True), (True, False), (False, True)
WAYS: list[tuple[str, dict[str, tuple[bool, bool] | None]]] = [
    ("highway=residential", {"car": BOTH, "bike": BOTH, "foot": BOTH}),
    ("highway=residential oneway=yes", {"car": ALONG, "bike": ALONG, "foot": BOTH}),
    ("highway=residential oneway=-1", {"car": AGAINST, "bike": AGAINST, "foot": BOTH}),
    ("highway=residential oneway=reversible", {"car": None, "bike": None, "foot": BOTH}),
    ("highway=residential oneway=yes oneway:bicycle=no", {"car": ALONG, "bike": BOTH}),
    ("highway=residential oneway=yes cycleway=opposite_lane", {"car": ALONG, "bike": BOTH}),
    ("highway=tertiary oneway=yes cycleway:left:oneway=-1", {"car": ALONG, "bike": BOTH}),
    ("highway=tertiary junction=roundabout", {"car": ALONG, "bike": ALONG, "foot": BOTH}),
    ("highway=motorway", {"car": ALONG, "bike": None, "foot": None}),
    ("highway=motorway oneway=no", {"car": BOTH}),
    ("highway=cycleway", {"car": None, "bike": BOTH, "foot": None}),
    ("highway=cycleway foot=designated", {"car": None, "bike": BOTH, "foot": BOTH}),
    ("highway=footway", {"car": None, "bike": None, "foot": BOTH}),
    ("highway=footway bicycle=yes", {"car": None, "bike": BOTH, "foot": BOTH}),
    ("highway=steps", {"car": None, "bike": None, "foot": BOTH}),
    ("highway=track", {"car": None, "bike": BOTH, "foot": BOTH}),
    ("highway=track motor_vehicle=yes", {"car": BOTH}),
    ("highway=service access=private", {"car": None, "bike": None, "foot": None}),
    ("highway=service access=no bicycle=yes foot=yes", {"car": None, "bike": BOTH, "foot": BOTH}),
    ("highway=residential vehicle=no", {"car": None, "bike": None, "foot": BOTH}),
    ("highway=residential vehicle=no motorcar=yes", {"car": BOTH, "bike": None}),
    ("highway=residential access=destination", {"car": BOTH, "bike": BOTH, "foot": BOTH}),
    ("highway=pedestrian area=yes", {"car": None, "bike": None, "foot": None}),
    ("highway=construction", {"car": None, "bike": None, "foot": None}),
    ("highway=proposed access=yes", {"car": None, "bike": None, "foot": None}),
    ("highway=service motor_vehicle=delivery", {"car": None, "bike": BOTH, "foot": BOTH}),
    ("highway=service access=delivery", {"car": None, "bike": None, "foot": None}),
    ("highway=service access=permit", {"car": None, "bike": None, "foot": None}),
    ("highway=service access=customers", {"car": BOTH, "bike": BOTH, "foot": BOTH}),
    ("highway=residential motor_vehicle=agricultural;forestry", {"car": None, "foot": BOTH}),
    ("highway=residential motor_vehicle=agricultural;destination", {"car": BOTH}),
    ("highway=residential motor_vehicle=psv;motorcar", {"car": BOTH}),
    ("highway=residential access=bicycle", {"car": None, "bike": BOTH, "foot": None}),
    ("highway=residential motorcar=unknown motor_vehicle=no", {"car": None, "bike": BOTH}),
    ("highway=residential access=no foot=discouraged", {"foot": None}),
    ("highway=residential motor_vehicle:conditional=no", {"car": BOTH}),
    ("highway=residential motor_vehicle:forward=no", {"car": AGAINST, "bike": BOTH}),
    ("highway=residential vehicle:backward=no bicycle=yes", {"car": ALONG, "bike": BOTH}),
    ("highway=residential access:forward=no", {"car": AGAINST, "bike": AGAINST, "foot": AGAINST}),
    ("highway=residential motor_vehicle=no motor_vehicle:backward=yes", {"car": AGAINST}),
    ("highway=residential oneway=yes bicycle:backward=yes", {"car": ALONG, "bike": BOTH}),
    ("highway=footway bicycle:forward=yes", {"car": None, "bike": ALONG, "foot": BOTH}),
    ("highway=primary motorroad=yes", {"car": BOTH, "bike": None, "foot": None}),
    ("highway=primary motorroad=yes bicycle=yes", {"bike": BOTH, "foot": None}),
    ("highway=motorway bicycle=yes", {"car": ALONG, "bike": ALONG, "foot": None}),
    ("highway=service service=emergency_access", {"car": None, "bike": BOTH, "foot": BOTH}),
    ("highway=service service=emergency_access motorcar=yes", {"car": BOTH}),
    ("highway=secondary sidewalk=separate", {"car": BOTH, "bike": BOTH, "foot": None}),
    ("highway=secondary sidewalk:both=separate", {"foot": None}),
    ("highway=secondary sidewalk:left=separate sidewalk:right=no", {"foot": None}),
    ("highway=secondary sidewalk:left=separate sidewalk:right=yes", {"foot": BOTH}),
    ("highway=secondary sidewalk=separate foot=yes", {"foot": BOTH}),
    ("highway=secondary sidewalk=no", {"foot": BOTH}),
    ("highway=track bicycle=use_sidepath", {"bike": None, "foot": BOTH}),
    ("highway=pedestrian bicycle=dismount", {"car": None, "bike": BOTH, "foot": BOTH}),
    ("highway=residential vehicle=dismount", {"car": None, "bike": BOTH, "foot": BOTH}),
]


@pytest.mark.parametrize(("words", "right"), WAYS, ids=[words for words, _ in WAYS])
def test_who_may_go_where(words: str, right: dict[str, tuple[bool, bool] | None]) -> None:
    tags = dict(word.split("=") for word in words.split())
    for name, directions in right.items():
        result = speeds_of(tags, PROFILES[name])
        assert (None if result is None else tuple(speed > 0 for speed in result)) == directions, (
            name
        )


@pytest.mark.parametrize(
    ("words", "profile", "right"),
    [
        ("highway=primary maxspeed=50", "car", Speeds(45, 45)),
        ("highway=primary maxspeed=30+mph", "car", Speeds(43.45, 43.45)),
        ("highway=primary maxspeed:backward=100", "car", Speeds(65, 90)),
        ("highway=primary maxspeed=signals", "car", Speeds(65, 65)),
        ("highway=residential maxspeed=walk", "car", Speeds(5.4, 5.4)),
        ("highway=residential maxspeed=0", "car", Speeds(1, 1)),
        ("highway=residential maxspeed=10", "bike", Speeds(10, 10)),
        ("highway=residential maxspeed=100", "bike", Speeds(18, 18)),
        ("highway=steps", "foot", Speeds(2.5, 2.5)),
        ("highway=track bicycle=dismount", "bike", Speeds(4, 4)),
        ("highway=track bicycle=dismount maxspeed=30", "bike", Speeds(4, 4)),
        ("highway=motorway oneway=no maxspeed=none", "car", Speeds(117, 117)),
        ("highway=living_street maxspeed=none", "car", Speeds(7, 7)),
        ("highway=residential maxspeed=none source:maxspeed=DE:urban", "car", Speeds(45, 45)),
        ("highway=tertiary maxspeed=50;30", "car", Speeds(27, 27)),
        ("highway=tertiary maxspeed=FR:rural", "car", Speeds(72, 72)),
        ("highway=tertiary maxspeed=DE:rural", "car", Speeds(90, 90)),
        ("highway=tertiary maxspeed=PL:rural", "car", Speeds(81, 81)),
        ("highway=tertiary maxspeed=5+knots", "car", Speeds(8.33, 8.33)),
        ("highway=tertiary maxspeed=DE:zone:20", "car", Speeds(18, 18)),
        ("highway=tertiary maxspeed=BE-VLG:zone30", "car", Speeds(27, 27)),
        ("highway=tertiary maxspeed=GB:zone:20", "car", Speeds(28.97, 28.97)),
        ("highway=tertiary zone:maxspeed=DE:30", "car", Speeds(27, 27)),
        ("highway=tertiary source:maxspeed=DE:zone:30", "car", Speeds(27, 27)),
        ("highway=tertiary maxspeed:type=FR:zone30", "car", Speeds(27, 27)),
        ("highway=tertiary maxspeed=40 source:maxspeed=DE:zone:30", "car", Speeds(36, 36)),
        ("highway=tertiary source:maxspeed=survey", "car", Speeds(50, 50)),
        ("highway=residential maxspeed=FR:living_street", "car", Speeds(18, 18)),
        ("highway=residential maxspeed=DE:living_street", "car", Speeds(5.4, 5.4)),
    ],
)
def test_speeds(words: str, profile: str, right: Speeds) -> None:
    tags = dict(word.replace("+", " ").split("=") for word in words.split())
    assert speeds_of(tags, PROFILES[profile]) == pytest.approx(right)


ROAD = {"highway": "residential"}
STRETCH_M, DETOUR_M = 3037, 8970
"""From end to end over the way in question, and around it."""

WAY_TAGS: list[tuple[str, str, bool]] = [
    ("highway=unclassified motor_vehicle=agricultural;forestry", "car", False),
    ("highway=service motor_vehicle=delivery", "car", False),
    ("highway=service service=emergency_access", "car", False),
    ("highway=primary motorroad=yes", "foot", False),
    ("highway=secondary sidewalk=separate", "foot", False),
    ("highway=secondary sidewalk:both=separate", "foot", False),
    ("highway=secondary sidewalk=both", "foot", True),
]
NODE_TAGS: list[tuple[str, str, bool]] = [
    ("highway=crossing bicycle=no", "bike", True),
    ("highway=crossing motor_vehicle=no", "car", True),
    ("highway=traffic_signals crossing=traffic_signals bicycle=no", "bike", True),
    ("highway=crossing barrier=bollard", "car", False),
    *((f"barrier={kind}", "car", False) for kind in ("bollard", "bus_trap", "sump_buster")),
    *((f"barrier={kind}", "car", False) for kind in ("cycle_barrier", "planter", "stile")),
    *((f"barrier={kind}", "bike", True) for kind in ("motorcycle_barrier", "cycle_barrier")),
    *((f"barrier=stile foot={value}", "foot", value == "yes") for value in ("yes", "no")),
    ("barrier=stile", "bike", False),
    ("barrier=stile", "foot", True),
    ("barrier=wall", "foot", False),
    ("barrier=bollard access=yes", "car", True),
    ("barrier=gate", "car", True),
    ("barrier=gate access=private", "foot", False),
    ("barrier=gate access=no bicycle=dismount", "bike", True),
]


def town(way: dict[str, str], node: dict[str, str]) -> Extract:
    """A way from 1 over node 2 to 3, a detour around it, and a dead end on either side."""
    places = {1: (7.0, 43.0), 2: (7.005, 43.0), 3: (7.01, 43.0), 4: (7.0, 43.01), 5: (7.01, 43.01)}
    places |= {6: (7.0, 42.99), 7: (7.01, 42.99), 8: (7.005, 43.03)}
    others = ([4, 1], [3, 5], [6, 1], [3, 7], [4, 8, 5])
    return Extract(places, [*((nodes, ROAD) for nodes in others), ([1, 2, 3], way)], {2: node})


def metres(extract: Extract, folder: Path, profile: str, source: int, target: int) -> float:
    graph = read_graph(extract.write(folder / "town.osm"), profile=profile)
    answer = groute_py.sssp(graph, source, weight="length", device="cpu")
    assert answer is not None
    return float(answer.distances[graph.numbering.index_of(target)])


@pytest.mark.parametrize(("words", "profile", "is_open"), WAY_TAGS)
def test_ways_that_a_profile_may_take(
    tmp_path: Path, words: str, profile: str, is_open: bool
) -> None:
    extract = town(dict(word.split("=") for word in words.split()), {})
    right = STRETCH_M if is_open else DETOUR_M
    assert metres(extract, tmp_path, profile, 6, 7) == pytest.approx(right, abs=1)


@pytest.mark.parametrize(("words", "profile", "is_open"), NODE_TAGS)
def test_nodes_that_a_profile_may_pass(
    tmp_path: Path, words: str, profile: str, is_open: bool
) -> None:
    extract = town(ROAD, dict(word.split("=") for word in words.split()))
    right = STRETCH_M if is_open else DETOUR_M
    assert metres(extract, tmp_path, profile, 6, 7) == pytest.approx(right, abs=1)


def test_ways_that_are_closed_in_one_direction(tmp_path: Path) -> None:
    extract = town({**ROAD, "motor_vehicle:forward": "no"}, {})
    assert metres(extract, tmp_path, "car", 6, 7) == pytest.approx(DETOUR_M, abs=1)
    assert metres(extract, tmp_path, "car", 7, 6) == pytest.approx(STRETCH_M, abs=1)
