"""What was found: one input for each fault, minimised and saved."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import Counter
from pathlib import Path

from fuzz.judge import Judge
from fuzz.minimise import minimised
from fuzz.verdict import Verdict

MINIMISE_S = 60.0


class Findings:
    """Counts ends, and keeps the first input of each fault; threads share it.

    Args:
        folder: where inputs are saved, each with a text that says what it shows.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self.ends: Counter[tuple[str, str]] = Counter()
        """By format and end."""
        self.faults: Counter[str] = Counter()
        """By what they are."""

    def take(self, format_name: str, content: bytes, verdict: Verdict, judge: Judge) -> None:
        """Count a verdict; minimise and save the input of a fault that is new."""
        with self._lock:
            self.ends[format_name, verdict.end] += 1
            if verdict.end != "fault":
                return
            self.faults[verdict.what] += 1
            if self.faults[verdict.what] > 1:
                return
        end = time.monotonic() + MINIMISE_S

        def shows(part: bytes) -> bool:
            in_time = time.monotonic() < end
            return in_time and judge.verdict(format_name, part).what == verdict.what

        small = minimised(content, shows)
        path = self._save(format_name, small, verdict)
        print(f"FAULT {format_name}: {verdict.what}\n  {len(small)} bytes in {path}", flush=True)

    def _save(self, format_name: str, content: bytes, verdict: Verdict) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(content).hexdigest()[:8]
        path = self._folder / f"{re.sub('[^a-z0-9]+', '-', format_name.lower())}-{digest}"
        path.write_bytes(content)
        said = f"format: {format_name}\nfault: {verdict.what}\n\n{verdict.detail}\n"
        path.with_suffix(".txt").write_text(said, "utf-8", "backslashreplace")
        return path
