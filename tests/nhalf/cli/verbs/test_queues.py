"""Queues and long series on the model machine: measured, fitted, predicted, told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import FailedError
from nhalf.cli.outcome import check_soaked
from nhalf.measure.loop.ending import RunOutcome
from nhalf.store.run import Run
from tests.nhalf.cli.model_machine import model, needs_probes

Call = Callable[..., Any]
RECEIVE_S, PASSED_S = 2e-6, 1e-8


@needs_probes
def test_a_queue_of_a_depth_that_was_not_measured_is_predicted(call: Call, tmp_path: Path) -> None:
    run = tmp_path / "run"
    asked = ("--pattern", "drain", "--bytes", "8", "--axis", "queue=unexpected", "--launches", "1")
    machine = f"o_r={RECEIVE_S},match_s={PASSED_S}"
    depths = "depth=1,4,16,64,256,1024"
    done = call(*model(run, *asked, "--axis", depths, "--json", parameters=machine))
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["points"]) == 18
    assert call("fit", run).code == 0
    done = call("predict", "drain", "--machine", run, "--depth", "1,100,1000", "--json")
    found = {(row["algorithm"], row["depth"]): row for row in json.loads(done.out)["rows"]}
    assert len(found) == 9
    for (way, depth), row in found.items():
        passed = (depth - 1) / 2 if way == "unexpected/reverse" else 0
        assert row["time_s"] == pytest.approx(RECEIVE_S + PASSED_S * passed, rel=1e-6)
        assert row["total_s"] == pytest.approx(depth * row["time_s"])
    done = call("predict", "drain/unexpected/reverse", "--machine", run, "--depth", "1000")
    assert "7 µs" in done.out
    assert "unexpected/any" not in done.out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("drain", "--machine", "sp2-mpl"), "no model of queues"),
        (("bcast", "--machine", "sp2-mpl", "--depth", "3"), "bcast has no depth"),
        (("drain", "--machine", "sp2-mpl", "--ranks", "4"), "a queue has a depth and no ranks"),
        (("drain", "--machine", "sp2-mpl", "--depth", "x"), "'x'"),
    ],
)
def test_what_queues_do_not_have_is_one_line(
    call: Call, words: tuple[str, ...], named: str
) -> None:
    done = call("predict", *words)
    assert done.code == 2
    assert named in done.err


@needs_probes
def test_a_long_series_is_whole_and_told(call: Call, tmp_path: Path) -> None:
    done = call(*model(tmp_path / "run", "--pattern", "pingpong", "--soak", "1e4"))
    assert done.code == 0, done.err
    assert "10 000 calls of pingpong in one launch" in done.out
    outcome = RunOutcome(run=Run.open(tmp_path / "run"), failed={"model": "rank 1 ended"})
    check_soaked(outcome, "1e4")
    with pytest.raises(FailedError, match="broke off before its 10001 calls") as raised:
        check_soaked(outcome, "10001")
    assert raised.value.remedy == "rank 1 ended"


@needs_probes
def test_a_series_of_what_cannot_be_repeated_fails(call: Call, tmp_path: Path) -> None:
    done = call(*model(tmp_path / "run", "--pattern", "finalize", "--soak", "1e3"))
    assert done.code == 3
    assert "there are no rounds of pattern 'finalize' to repeat here" in done.err
