"""The contents of a page with a map."""

from __future__ import annotations

import json
import re
from typing import Any


def layers_of(page: str) -> dict[str, list[dict[str, Any]]]:
    """The features of each layer, by the name that the list of layers has."""
    data = dict(re.findall(r"^ *(geo_json_\w+)_add\((.*)\);$", page, re.MULTILINE))
    names = dict(re.findall(r"^ *(\".*\") : (geo_json_\w+),$", page, re.MULTILINE))
    return {json.loads(name): json.loads(data[of])["features"] for name, of in names.items()}
