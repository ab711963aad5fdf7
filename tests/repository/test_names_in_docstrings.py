"""Docstrings and comments name what is there: `groute_py.…`, and files of Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from support.places import ROOT

import groute_py

NAME = re.compile(r"\bgroute_py(?:\.[A-Za-z_]\w*)+")
FILE = re.compile(r"[\w./-]*\w\.py\b")
IMPORTS = re.compile(r"\s*(from|import) ")


def names_found(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """What a pattern finds in the modules, imports apart: file and line, and name."""
    result: list[tuple[str, str]] = []
    for path in sorted((ROOT / "groute_py").rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not IMPORTS.match(line):
                where = f"{path.relative_to(ROOT)}:{number}"
                result += [(where, name) for name in pattern.findall(line)]
    return result


@cache
def is_there(name: str) -> bool:
    """Whether a dotted name leads to a package, a module, or what one of them defines."""
    words = name.split(".")
    if len(words) > 1 and words[1] in groute_py._HOMES:
        words[:1] = groute_py._HOMES[words[1]].split(".")
    place = ROOT
    while words and (place / words[0]).is_dir():
        place /= words.pop(0)
    if words and (place / f"{words[0]}.py").exists():
        place /= f"{words.pop(0)}.py"
    else:
        place /= "__init__.py"
    node: ast.AST | None = parsed(place)
    for word in words:
        node = defined_in(node, imports=place.name == "__init__.py").get(word)
    return node is not None


@cache
def parsed(module: Path) -> ast.Module:
    return ast.parse(module.read_bytes())


def defined_in(node: ast.AST | None, *, imports: bool) -> dict[str, ast.AST]:
    """The names of a module or a class; attributes that its methods set are names of a class."""
    result: dict[str, ast.AST] = {}
    for statement in node.body if isinstance(node, ast.Module | ast.ClassDef) else []:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            result[statement.name] = statement
        if imports and isinstance(statement, ast.ImportFrom):
            result |= {alias.asname or alias.name: alias for alias in statement.names}
        if isinstance(statement, ast.Assign | ast.AnnAssign) or isinstance(node, ast.ClassDef):
            result |= dict(assigned_in(statement))
    return result


def assigned_in(statement: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr, node


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("groute_py.__version__", True),
        ("groute_py.centrality.closeness", True),
        ("groute_py.many.storage", True),
        ("groute_py.many.place", False),
        ("groute_py.Result.to_frame", True),
        ("groute_py.engine.solver.SourceSolver.sssp", True),
        ("groute_py.engine.solver.sssp", False),
        ("groute_py.device.base.Device.bucket_width", True),
        ("groute_py.device.base.Device.window", False),
        ("groute_py.device.cuda.multi_source.graph.packed_arcs", False),
    ],
)
def test_what_is_there(name: str, there: bool) -> None:
    assert is_there(name) is there


def test_dotted_names() -> None:
    result = names_found(NAME)
    assert len(result) > 100
    assert not [(where, name) for where, name in result if not is_there(name)]


def test_files() -> None:
    """A name without a folder is of a file that lies beside the one that names it."""
    result = names_found(FILE)
    assert result
    assert not [(where, name) for where, name in result if not is_file(name, Path(where).parent)]


def is_file(name: str, beside: Path) -> bool:
    return (ROOT / ("" if "/" in name else beside) / name).exists()
