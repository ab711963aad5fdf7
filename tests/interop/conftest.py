"""NetworkX without its word that conversions are kept in a cache."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import pytest


@pytest.fixture(autouse=True)
def _no_word_of_the_cache() -> Iterator[None]:
    with nx.config(warnings_to_ignore={"cache"}):
        yield
