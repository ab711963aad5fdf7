"""Generated graphs of which each rank makes its rows, on its GPU or in its host memory."""

from __future__ import annotations
