"""STREAM and S-DES as a user runs them: from the probe to the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.probes import is_built
from tests.server import Ended

pytestmark = pytest.mark.skipif(not is_built("probe-threads"), reason="the probes are not built")
QUICK = ("--transport", "threads", "--bytes", "64K", "--launches", "1", "--budget", "6s", "--json")


@pytest.mark.full
def test_rates_are_counted_as_stream_does(call: Callable[..., Ended], tmp_path: Path) -> None:
    out = tmp_path / "run"
    asked = ("--pattern", "memory-copy,memory-triad,array-triad,sdes", "--ranks", "2")
    done = call("run", *asked, *QUICK, "--axis", "access=cast,for-all", "--out", out)
    assert done.code == 0, done.err
    points = json.loads(done.out)["points"]
    assert {point["pattern"] for point in points} == set(asked[1].split(","))
    rows = call(
        "show", "--sql", "select distinct pattern, bytes_per_time from points", out, "--json"
    )
    assert rows.code == 0, rows.err
    for pattern, counted in (("memory-copy", 131072), ("memory-triad", 196608)):
        assert pattern in rows.out
        assert str(counted) in rows.out


def test_too_many_threads_of_a_rank_are_a_clear_error(
    call: Callable[..., Ended], tmp_path: Path
) -> None:
    asked = ("--pattern", "memory-copy", "--ranks", "1", "--axis", "threads=4096")
    done = call("run", *asked, *QUICK, "--out", tmp_path / "run")
    assert done.code != 0
    assert "threads=4096" in done.err + done.out
