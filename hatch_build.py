"""What a wheel has beside the sources: README.md with absolute links, and compiled CPU kernels."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
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


class KernelsHook(BuildHookInterface):
    """Compiles CPU kernels for a wheel, so that the first run after installing it need not.

    They serve the version of Python and Numba, and the family of processors, of the build; with
    others Numba compiles. ``HATCH_BUILD_NO_HOOKS=true`` leaves them out, which saves a minute.
    """

    FOLDER = "groute_py/kernels/cpu/compiled"

    def dependencies(self) -> list[str]:
        """What the compilation needs in an isolated environment."""
        return ["numpy>=1.26", "numba>=0.60", "click>=8.2", "rich>=13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._scratch = tempfile.mkdtemp()
        if version != "standard":
            return
        words = [sys.executable, "compile_kernels.py", self._scratch]
        if subprocess.run(words, cwd=self.root, check=False).returncode:
            self.app.display_warning("kernels were not compiled; first runs will compile them")
        for path in Path(self._scratch).iterdir():
            build_data["force_include"][str(path)] = f"{self.FOLDER}/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._scratch)
