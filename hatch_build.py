"""What a wheel has beside the sources: README.md with absolute links, and compiled kernels."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from sysconfig import get_platform
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)]+)\)")

UNDERSCORES = str.maketrans("-.", "__")
"""For platforms as tags of wheels name them."""


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
    """Compiles kernels for a wheel, so that the first run after installing it need not.

    Those for the CPU serve any Python with the version of Numba, and the family of processors, of
    the build; with others Numba compiles. Those for GPUs are compiled by NVRTC, which needs none.
    ``GROUTE_PY_GPU_KERNELS`` is ``here`` (the default: usual ones for the CPU and the GPUs of this
    machine), or those for GPUs are ``usual``, ``all`` or ``none`` beside all for the CPU.
    ``HATCH_BUILD_NO_HOOKS=true`` leaves all out, which saves most of a minute. ``GROUTE_PY_SBOM``
    names a bill of materials to put in (PEP 770).
    """

    CPU_FOLDER = "groute_py/kernels/cpu/compiled"
    GPU_FOLDER = "groute_py/kernels/compiled"

    def dependencies(self) -> list[str]:
        """What the compilation needs in an isolated environment."""
        needed = ["numpy>=1.26", "numba>=0.60", "click>=8.2"]
        if _wanted_gpu_kernels() and sys.platform == "linux":
            needed += ["cuda-bindings>=13", "nvidia-cuda-nvrtc>=13"]
        return needed

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        gpu_kernels = _wanted_gpu_kernels()
        cpu_kernels = "usual" if _choice() == "here" else "all"
        self._scratch = Path(tempfile.mkdtemp())
        if version != "standard":
            return
        self._compile("compile_kernels.py", self.CPU_FOLDER, build_data, cpu_kernels)
        if gpu_kernels:
            self._compile("compile_gpu_kernels.py", self.GPU_FOLDER, build_data, *gpu_kernels)
        if build_data["force_include"]:
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{get_platform().translate(UNDERSCORES)}"
        if bill := os.environ.get("GROUTE_PY_SBOM"):
            build_data["sbom_files"].append(str(Path(bill).resolve()))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._scratch)

    def _compile(self, script: str, folder: str, build_data: dict[str, Any], *words: str) -> None:
        """Let a script fill a folder of the wheel; without what it needs the wheel has none."""
        target = self._scratch / script
        target.mkdir()
        command, environment = [sys.executable, script, target, *words], self._environment()
        done = subprocess.run(command, cwd=self.root, env=environment, check=False)
        if done.returncode:
            self.app.display_warning(f"{script} failed; first runs will compile kernels")
            return
        for path in target.iterdir():
            build_data["force_include"][str(path)] = f"{folder}/{path.name}"

    def _environment(self) -> dict[str, str]:
        """With the folders of NVIDIA's libraries that were installed for the build.

        cuda-bindings looks for them where Python itself is installed; builds have folders apart.
        """
        folders = [str(found) for entry in sys.path for found in Path(entry).glob("nvidia/*/lib")]
        before = os.environ.get("LD_LIBRARY_PATH")
        path = os.pathsep.join([*folders, *([before] if before else [])])
        return {**os.environ, "LD_LIBRARY_PATH": path} if path else {**os.environ}


def _wanted_gpu_kernels() -> list[str]:
    """Which kernels, and for which processors if not for all usual ones; empty for none."""
    which = _choice()
    if which == "here":
        targets = _targets_here()
        return ["usual", *targets] if targets else []
    return [] if which == "none" else [which]


def _choice() -> str:
    which = os.environ.get("GROUTE_PY_GPU_KERNELS") or "here"
    if which not in ("here", "usual", "all", "none"):
        raise ValueError(f"GROUTE_PY_GPU_KERNELS={which}: expected here, usual, all or none")
    return which


def _targets_here() -> list[str]:
    """The first processor of each major compute capability that this machine has, as ``sm_90``."""
    command = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return sorted({f"sm_{major}0" for major in re.findall(r"^(\d+)\.\d+$", shown.stdout, re.M)})
