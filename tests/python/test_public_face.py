"""The public names, and that importing them costs nothing."""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest
from support.places import ROOT
from support.processes import run_python

import groute_py
from groute_py import errors
from groute_py.engine import keywords as keyword_types
from groute_py.engine.option import GRAPH_KEYWORDS, options_of
from groute_py.engine.options import Options

FACE = [
    "Accessibility",
    "Assignment",
    "BPR",
    "Conical",
    "CostDistance",
    "Customized",
    "FormatError",
    "Graph",
    "GraphError",
    "GrouteError",
    "InputError",
    "InterruptedRun",
    "Isochrones",
    "Matrix",
    "NearestFacilities",
    "NegativeCycleError",
    "Points",
    "Positions",
    "PreparedGraph",
    "Result",
    "Routes",
    "RunError",
    "SetupError",
    "Snaps",
    "Solver",
    "SourceRows",
    "TimeLimitError",
    "UNREACHED",
    "UserClass",
    "VerificationError",
    "accessibility",
    "add_points",
    "apsp",
    "assign",
    "bfs",
    "cost_distance",
    "customize",
    "generate",
    "graph_from_table",
    "isochrone",
    "matrix",
    "nearest",
    "plot",
    "prepare",
    "read_graph",
    "read_result",
    "route",
    "snap",
    "sssp",
    "verify",
    "write_graph",
]

HEAVY = ["numpy", "numba", "mpi4py", "cupy", "scipy", "rich", "click", "networkx"]


def test_the_list_of_names() -> None:
    """Change this list only together with CHANGELOG.md."""
    assert sorted(groute_py.__all__) == FACE


def test_a_star_import_leaves_the_built_in_open() -> None:
    names: dict[str, object] = {}
    exec("from groute_py import *", names)
    assert "open" not in names
    assert "open" in dir(groute_py)
    assert groute_py.open.__module__ == "groute_py.jobs.solver"


@pytest.mark.parametrize("name", [*FACE, "open"])
def test_every_name_is_there_and_documented(name: str) -> None:
    value = getattr(groute_py, name)
    assert name in dir(groute_py)
    if name != "UNREACHED":
        assert inspect.getdoc(value)
        assert value is getattr(import_module(value.__module__), name)


def test_public_modules_need_no_import_of_their_own() -> None:
    code = "import groute_py as g; print(g.centrality.closeness.__name__, g.csgraph.__name__)"
    assert run_python(code).stdout == "closeness groute_py.csgraph\n"


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="module 'groute_py' has no attribute 'dfs'"):
        groute_py.dfs  # noqa: B018


def test_arguments_of_sssp() -> None:
    parameters = inspect.signature(groute_py.sssp).parameters
    plain = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert plain == ["graph", "source"]
    assert {
        "algorithm": "auto",
        "delta": None,
        "device": "auto",
        "predecessors": True,
        "cutoff": None,
        "comm": None,
    }.items() <= {p.name: p.default for p in parameters.values()}.items()


@pytest.mark.parametrize("function", ["sssp", "bfs", "open", "apsp", "matrix", "nearest", "route"])
def test_signatures_show_all_options(function: str) -> None:
    """Those of the TypedDict that type checkers see, with the defaults and texts of the fields."""
    call = getattr(groute_py, function)
    keywords = get_type_hints(getattr(keyword_types, f"{function.capitalize()}Keywords"))
    parameters, text = inspect.signature(call).parameters, inspect.getdoc(call)
    assert text is not None
    known, hints = dict(options_of(Options, function)), get_type_hints(Options)
    assert {entry.name for entry in known} == keywords.keys() - GRAPH_KEYWORDS.keys()
    for entry, option in known.items():
        parameter = parameters[entry.name]
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.default is option.default
        assert keywords[entry.name] == hints[entry.name]
        assert f"    {entry.name}: {option.text.split()[0]}" in text
    assert not any(p.kind is p.VAR_KEYWORD for p in parameters.values())


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("bfs", "prepare"),
        ("sssp", "hops"),
        ("open", "x"),
        ("apsp", "destination"),
        ("nearest", "reverse"),
        ("route", "algorithm"),
    ],
)
def test_keywords_that_do_not_apply(function: str, name: str) -> None:
    said = rf"^{function}\(\) got an unexpected keyword argument '{name}'$"
    ends = [0] if function in ("sssp", "bfs", "nearest", "route") else []
    with pytest.raises(TypeError, match=said):
        getattr(groute_py, function)("road:3x3", *ends, **{name: 1})


def test_the_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", groute_py.__version__)


def test_the_citation_has_the_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [groute_py.__version__]


def test_the_version_stands_in_one_place() -> None:
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert groute_py.__version__ not in re.findall(r'"([^"]*)"', settings)


def loaded_by(code: str) -> list[str]:
    """Which heavy packages a fresh interpreter has loaded after some code."""
    ask = f"{code}\nimport json, sys; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    done = run_python(ask)
    assert done.returncode == 0, done.stderr
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return names


@pytest.mark.parametrize(
    ("code", "loads"),
    [
        ("import groute_py", []),
        ("import groute_py; groute_py.__version__, dir(groute_py)", []),
        ("from groute_py import GrouteError, InputError", []),
        ("from groute_py import Graph, Result", ["numpy"]),
        ("import groute_py.engine.options", []),
        ("from groute_py.system import environment, settings", []),
        ("import groute_py.launch.mpirun", []),
        ("import groute_py.engine.solver, groute_py.source.graph_source", ["numpy"]),
        ("import groute_py.device.cpu.device, groute_py.jobs.solver", ["numpy"]),
    ],
)
def test_what_an_import_loads(code: str, loads: list[str]) -> None:
    assert loaded_by(code) == loads


def test_one_rank_never_loads_mpi() -> None:
    code = "import groute_py; groute_py.sssp('road:5x5', 0, device='cpu')"
    assert set(loaded_by(code)) <= {"numpy", "numba", "scipy"}


class TestErrors:
    """The tree that errors.py draws."""

    def kinds(self) -> list[type[errors.GrouteError]]:
        members = vars(errors).values()
        return [m for m in members if isinstance(m, type) and issubclass(m, errors.GrouteError)]

    def test_codes_are_documented(self) -> None:
        assert {kind.exit_code for kind in self.kinds()} < errors.EXIT_CODES.keys()

    def test_the_drawn_tree_is_the_real_one(self) -> None:
        for kind in self.kinds():
            if kind is errors.GrouteError:
                continue
            line = next(x for x in str(errors.__doc__).splitlines() if f"─ {kind.__name__}" in x)
            assert re.search(rf"\b{kind.exit_code}\b", line), line

    def test_wrong_input_is_a_value_error(self) -> None:
        with pytest.raises(ValueError, match="no such file"):
            groute_py.read_graph("/absent.gr")

    def test_they_travel(self) -> None:
        import pickle

        negative = errors.NegativeCycleError([1, 2, 1], -3, ids=[2, 3, 2])
        negative.on_all_ranks = True
        formed = errors.FormatError("a.gr", "is odd", line=3)
        for error in (negative, formed, errors.RunError("late")):
            again = pickle.loads(pickle.dumps(error))
            assert type(again) is type(error)
            assert str(again) == str(error)
            assert vars(again) == vars(error)

    def test_a_long_cycle_is_shortened(self) -> None:
        error = errors.NegativeCycleError([*range(100), 0], -1)
        assert "… 61 more …" in str(error)
        assert len(error.cycle) == 101


def test_commands_leave_the_names_alone() -> None:
    """No module of the package hides a public function of the same name."""
    code = "import groute_py.cli.main, groute_py; print(callable(groute_py.verify))"
    done = run_python(code)
    assert done.stdout == "True\n"
    modules = {path.stem for path in Path(str(groute_py.__file__)).parent.glob("*.py")}
    assert not modules & set(groute_py.__all__)


@pytest.mark.parametrize(
    "name", ["sssp", "apsp", "matrix", "nearest", "route", "isochrone", "open"]
)
def test_sentences_about_options_end_once(name: str) -> None:
    doc = " ".join(str(inspect.getdoc(getattr(groute_py, name))).split())
    assert re.findall(r"\S*\. ?\.\s", doc.replace("...", "")) == []
