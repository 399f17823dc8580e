"""Numbers of studies in words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.base.errors import InputError
from nhalf.studies.catalogue import members
from nhalf.studies.form import Quantity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("barrier", {"pattern": "barrier"}),
        ("pingpong 1M on-node r-inf", {"bytes": "1M", "placement": "on-node", "figure": "r-inf"}),
        ("bcast/binomial 64K on 1 rank", {"algorithm": "binomial", "bytes": "64K", "ranks": 1}),
        ("pingpong 64 by shm of sp2-mpl", {"bytes": 64, "transport": "shm", "machine": "sp2-mpl"}),
        ("bcast 16 ranks its root_s", {"ranks": 16, "extra": "root_s"}),
        ("traffic to=cube load=100 rate", {"axes": {"to": "cube", "load": 100}, "figure": "rate"}),
        ("traffic cyclic", {"mapping": "cyclic"}),
        ("dense-pairwise last predicted", {"phase": "last", "predicted": True}),
        ("node l1-size", {"node": "l1-size"}),
    ],
)  # fmt: skip
def test_words_are_members(text: str, expected: dict[str, Any]) -> None:
    pattern = text.partition(" ")[0].partition("/")[0]
    assert members(text) == ({} if pattern == "node" else {"pattern": pattern}) | expected
    msgspec.convert(members(text), Quantity)


def test_the_words_of_a_long_number_may_stand_in_several_lines() -> None:
    assert members("gap 0 on\n2 ranks\n its root_s") == members("gap 0 on 2 ranks its root_s")


@pytest.mark.parametrize("word", ["tempo", "4Q", "16ranks"])
def test_a_word_that_means_nothing_is_refused_with_those_that_do(word: str) -> None:
    with pytest.raises(InputError, match=f"unknown word '{word}'") as caught:
        members(f"pingpong 8 {word}")
    assert "axis=value" in (caught.value.remedy or "")
