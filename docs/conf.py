"""How Sphinx builds the site: ``make docs``."""

from __future__ import annotations

import ast
import posixpath
import re
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import groute_py

project = "groute-py"
author = "The groute-py developers"
release = version = groute_py.__version__
html_title = "groute-py"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["figures/*", "gallery/*", "templates/*"]
default_role = "code"
highlight_language = "none"

# Anchors of headings are those of a forge, down to the fourth level.
myst_heading_anchors = 4

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # the signature and the docstring have what a reader needs
autosummary_generate = True
autosummary_ignore_module_all = False
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False  # docstrings give shapes and types

sphinx_gallery_conf = {
    "examples_dirs": ["../examples", "gallery"],
    "gallery_dirs": ["generated/examples", "generated/gallery"],
    "backreferences_dir": "generated/backreferences",  # the tiles of the gallery need one
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "write_computation_times": False,
    "show_signature": False,
    "copyfile_regex": r".*\.rst",
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "static/scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_theme_options: dict[str, Any] = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["sphinx-version"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "glossary": []}

linkcheck_timeout = 20

ELSEWHERE = {
    "../examples": "generated/examples/index.rst",
    "gallery": "generated/gallery/index.rst",
    "../groute_py/kernels/exchange/PROTOCOL.md": "explanation/protocol.md",
}
"""Pages for what is no page itself, by its path from docs/; scripts have pages by their names."""

LINK = re.compile(r"\]\(([^)#:\s]+)\)")

TILES = "\n```{eval-rst}\n.. minigallery:: gallery/*.py\n```\n"
"""The pictures of the scripts, below the text of the gallery."""

ROOT = Path(__file__).parents[1]


def _packages() -> str:
    """The packages, by the contract of their imports, each with the first line of its docstring."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rows = ["| floor | packages | contents |", "|---:|---|---|"]
    for floor, layer in enumerate(settings["tool"]["importlinter"]["contracts"][0]["layers"], 1):
        for name in re.findall(r"\w+", layer):
            folder = ROOT / "groute_py" / name
            module = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
            text = ast.get_docstring(ast.parse(module.read_bytes())) or ""
            rows.append(f"| {floor} | `{name}` | {text.partition(chr(10))[0]} |")
    return "\n".join(rows)


def _within_site(folder: str, link: re.Match[str]) -> str:
    """A link of a page in a folder as it has to be on the site."""
    target = posixpath.normpath(posixpath.join(folder, link[1]))
    if found := re.fullmatch(r"(?:\.\./)?(examples|gallery)/(\w+)\.py", target):
        page = f"generated/{found[1]}/{found[2]}.rst"
    elif target in ELSEWHERE:
        page = ELSEWHERE[target]
    else:  # what lies outside becomes a download
        return f"](path:{link[1]})" if target.startswith("../") else link[0]
    return f"]({posixpath.relpath(page, folder or '.')})"


def _adapt(app: Any, name: str, source: list[str]) -> None:
    """Change links that are those of a forge to those of the site."""
    if str(app.env.doc2path(name)).endswith(".md"):
        source[0] = LINK.sub(partial(_within_site, posixpath.dirname(name)), source[0])
    if name == "gallery":
        source[0] += TILES
    if name == "architecture":
        source[0] = source[0].replace("<!-- packages -->", _packages())


def _mark_options(app: Any, context: Any, lines: list[str]) -> None:
    """Set options in texts of the command line as code; else their hyphens would be a dash."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith(".. "):
            lines[number] = re.sub(r"(?<![\w`-])--[a-z][\w-]*", r"``\g<0>``", line)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _adapt)
    for part in ("description", "options"):
        app.connect(f"sphinx-click-process-{part}", _mark_options)
