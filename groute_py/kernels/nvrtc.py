"""Kernels compiled by NVRTC, which needs neither a GPU nor a driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cuda.bindings import nvrtc

FAST = "--Ofast-compile=max"
"""Leaves out most of the optimization, which takes over nine tenths of the time."""


class Compiled(NamedTuple):
    """Success, the compiler's messages, and the PTX, or for ``sm_`` the object."""

    good: bool
    log: str
    ptx: str
    cubin: bytes


def compiled(text: str, choices: Sequence[str], architecture: str) -> Compiled:
    """Compile a program to PTX (``compute_90``), for messages, or to machine code (``sm_90``)."""
    program = _ask(nvrtc.nvrtcCreateProgram, text.encode(), b"joined.cu", 0, [], [])
    try:
        fast = [FAST] if architecture.startswith("compute_") else []
        words = [word.encode() for word in (*choices, *fast, f"-arch={architecture}")]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(words), words)
        good = status == nvrtc.nvrtcResult.NVRTC_SUCCESS
        log = _bytes_of(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
        ptx = cubin = b""
        if good and architecture.startswith("sm_"):
            cubin = _bytes_of(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        elif good:
            ptx = _bytes_of(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
        return Compiled(good, _text(log), _text(ptx), cubin)
    finally:
        _ask(nvrtc.nvrtcDestroyProgram, program)


def _ask(call: Callable[..., Any], *arguments: Any) -> Any:
    status, *rest = call(*arguments)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
    return rest[0] if rest else None


def _bytes_of(program: Any, size: Callable[..., Any], content: Callable[..., Any]) -> bytes:
    # NVRTC writes into the bytes: one byte more, so that they are never a constant of Python's
    buffer = bytes(_ask(size, program) + 1)
    _ask(content, program, buffer)
    return buffer[:-1]


def _text(content: bytes) -> str:
    return content.decode(errors="replace").rstrip("\0")
