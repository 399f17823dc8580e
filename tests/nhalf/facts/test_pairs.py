"""How near two ranks are, as far as their places say it."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.pairs import relation
from nhalf.store.places import Place

Make = Callable[..., pl.LazyFrame]


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (Place("a", 1, [1]), Place("b", 1, [1]), "different hosts"),
        (Place("a", 1, [1, 2]), Place("a", 1, [1]), "same host"),
        (Place("a", 1, [1]), Place("a", 1, [1]), "same core"),
        (Place("a", 1, [1]), Place("a", 2, [2]), "same memory domain"),
        (Place("a", 1, [1]), Place("a", 2, [2], 1), "same host, other memory domain"),
    ],
)
def test_relation_is_said_as_far_as_it_is_certain(one: Place, other: Place, said: str) -> None:
    assert relation(one, other) == said
