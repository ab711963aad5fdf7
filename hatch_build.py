"""README.md as the package index shows it: with absolute links."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)]+)\)")


def with_absolute_links(text: str, repository: str, version: str) -> str:
    """The Markdown ``text`` with relative links led to the tag of ``version`` in ``repository``."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}{link[2]}({repository}/{kind}/v{version}/{link[3]})"

    return LINK.sub(absolute, text)


class ReadmeHook(MetadataHookInterface):
    """Fills in ``readme``, which has no access to the repository's files on the index."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = (Path(self.root) / "groute_py" / "__init__.py").read_text(encoding="utf-8")
        version = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)[1]
        text = with_absolute_links(text, metadata["urls"]["Repository"], version)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
