"""Docstrings begin with a verb or a noun, in plain words, and a class has a name of its own."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from support.places import ROOT

FIRST_WORDS = re.compile(r"(What|Of|As|That|Whether|Whose|How|Where|Which)\b")

WORDS = re.compile(r"\b(whom|so-manieth)\b", re.IGNORECASE)

SHARED = {"NegativeCycleError", "NarrowError"}
"""Names of several classes: SciPy has the first; a distance or a shortcut raises the second."""

TWINS = ("device/cpu/", "device/cuda/")
"""Folders of devices, whose parts and methods have the same names."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / "groute_py").rglob("*.py")):
        yield str(path.relative_to(ROOT / "groute_py")), ast.parse(path.read_bytes())


def docstrings(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of the docstrings of a module, of its attributes too."""
    for node in ast.walk(module):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text.strip()


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    texts = [(f"{name}:{n}", text) for name, tree in modules() for n, text in docstrings(tree)]
    assert len(texts) > 3000
    assert not [place for place, text in texts if FIRST_WORDS.match(text) or WORDS.search(text)]


def test_a_public_class_has_a_name_of_its_own() -> None:
    homes = defaultdict[str, list[str]](list)
    for module, tree in modules():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    several = {name for name, places in homes.items() if len(places) > 1} - SHARED
    assert not [name for name in several if not all(p.startswith(TWINS) for p in homes[name])]
