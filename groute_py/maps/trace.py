"""The file of ``--trace``, read back: what each rank's counters stood at over time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from groute_py.engine.chrome_trace import COUNT
from groute_py.errors import FormatError, quoted
from groute_py.maps.timeline import TimeLine

HEAD = b'{"traceEvents":'
"""How the file begins."""

OLD = "a trace of groute-py before 0.2.0, whose counters have other keys; record it again"


def read_trace(path: Path) -> TimeLine:
    """Read the counters in the file of ``--trace``; time begins with the first of their values.

    Raises:
        FormatError: it is another one, or a version before 0.2.0 has written it.
    """
    try:
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        found = [event for event in events if event["ph"] == "C"]
        if any(event["args"].keys() == {event["name"]} for event in found):
            raise FormatError(path, OLD)
        at = np.array([event["ts"] for event in found], np.float64) / 1e6
        columns = {"seconds": at - at.min(initial=np.inf) if len(at) else at}
        for counter in {event["name"] for event in found}:
            values = [e["args"][COUNT] if e["name"] == counter else np.nan for e in found]
            columns[counter] = np.array(values, np.float64)
        return TimeLine("trace", [names[event["pid"]] for event in found], columns)
    except FormatError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise FormatError(path, f"not a trace of --trace ({quoted(problem)})") from problem
