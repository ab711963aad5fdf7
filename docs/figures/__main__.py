"""Write the figures of the documents: ``python docs/figures`` makes docs/images/*.svg."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

IMAGES = Path(__file__).resolve().parent.parent / "images"
FIGURES = ("buckets", "distances", "step", "rings", "entry", "floors", "solve")


def rendered() -> dict[Path, str]:
    """Each file, and what it has to hold."""
    return {IMAGES / f"{name}.svg": import_module(name).figure().text() for name in FIGURES}


if __name__ == "__main__":
    for path, text in rendered().items():
        path.write_text(text, encoding="utf-8")
