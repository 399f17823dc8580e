"""Pair maps from the command line to their sentences, on a machine with one slow part."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from nhalf.base import native_files
from nhalf.base.errors import MissingError

PATTERNS = "pair-map-latency,pair-map-bandwidth,pair-map-together"


def probe_is_built() -> bool:
    try:
        return bool(native_files.executable("probe-model"))
    except MissingError:
        return False


pytestmark = pytest.mark.skipif(not probe_is_built(), reason="the model probe was not built")


def measured(call: Callable[..., Any], slow: str) -> dict[str, Any]:
    """By pattern the row of a map of 5 ranks."""
    ended = call(
        "run", "--transport", "model", "--pattern", PATTERNS, "--ranks", "5", "--bytes", "16K",
        "--model", f"g=1e-6,G=1e-8,{slow}", "--launches", "2", "--out", "r", "--json",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    rows = json.loads(ended.out)["results"]["pair_map"]["rows"]
    return {row["pattern"].removeprefix("pair-map-"): row for row in rows}


def named(row: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [(one["kind"], one["members"]) for one in row["slow"]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("slow", "kind", "members"),
    [
        ("slow=2,slow_from=2", "sends", ["rank 2"]),
        ("slow=2,slow_to=4", "receives", ["rank 4"]),
        ("slow=2,slow_from=1,slow_to=3", "way", ["rank 1", "rank 3"]),
        ("slow=2,slow_from=3,slow_to=0", "way", ["rank 3", "rank 0"]),
    ],
)
def test_what_was_made_slow_is_named(
    slow: str, kind: str, members: list[str], call: Callable[..., Any]
) -> None:
    rows = measured(call, slow)
    assert named(rows["bandwidth"]) == [(kind, members)]
    # The empty answer, a little more than a thousandth of the time, may come back fast.
    assert rows["bandwidth"]["slow"][0]["ratio"] == pytest.approx(2, rel=0.01)
    (latency,) = rows["latency"]["slow"]
    assert latency["ratio"] == pytest.approx(1.5, rel=1e-9)
    if kind == "way":
        assert (latency["kind"], latency["members"]) == ("link", sorted(members))
        # A fifth of a card's rate is less than half of a link's.
        assert rows["together"]["slow"] == []
    else:
        assert (latency["kind"], latency["members"]) == ("node", members)
        assert [one["members"] for one in rows["together"]["slow"]] == [members]


def test_all_equal_names_nobody_and_says_so(call: Callable[..., Any]) -> None:
    rows = measured(call, "slow=1")
    assert [row["slow"] for row in rows.values()] == [[], [], []]
    assert rows["bandwidth"]["equal"] == (
        "all 20 pairs of ranks and directions are equal within 0.1 %"
    )
    shown = call("show", "r")
    assert "bandwidth, 16 KiB: from, to" in shown.out
    assert "latency, 16 KiB: all 10 pairs of ranks are equal within 0.1 %" in shown.out


def test_a_round_or_a_direction_that_there_is_not_is_refused(call: Callable[..., Any]) -> None:
    for axis in ("round=6", "direction=left"):
        ended = call(
            "run", "--transport", "model", "--pattern", "pair-map-bandwidth", "--ranks", "5",
            "--bytes", "8", "--axis", axis, "--launches", "1", "--out", "r",
        )  # fmt: skip
        assert ended.code != 0
        assert "Traceback" not in ended.err
