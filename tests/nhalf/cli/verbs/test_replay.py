"""A run is simulated with what was measured in it, and comes out as it was measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]
PARAMETERS = "o_s=1e-6,o_r=1.5e-6,g=2e-6,L=5e-6,G=1e-10"


pytestmark = pytest.mark.usefixtures("simulator")


@pytest.fixture
def run(call: Call, tmp_path: Path) -> Path:
    done = call(
        *("run", "--transport=model", "--model", PARAMETERS, "--bytes=0:4M", "--launches=2"),
        *("--out=run", "--quiet"),
    )
    assert done.code == 0, done.err
    return tmp_path / "run"


def test_a_machine_without_noise_is_met_at_every_size(call: Call, run: Path) -> None:
    done = call("predict", "--engine", "simgrid", "--machine", run, "--replay", "--json")
    assert (done.code, done.err) == (0, "")
    replayed = json.loads(done.out)["replays"]
    assert [one["mpi"] for one in replayed] == ["model"]
    sizes = replayed[0]["sizes"]
    assert (sizes[0]["size_bytes"], sizes[-1]["size_bytes"]) == (0, 4 << 20)
    for one in sizes:
        expected_s = 7.5e-6 + 1e-10 * one["size_bytes"]
        assert one["measured_s"] == pytest.approx(expected_s, rel=0.001)
        assert one["simulated_s"] == pytest.approx(one["measured_s"], rel=0.001)
        assert one["error"] == pytest.approx(one["simulated_s"] / one["measured_s"] - 1)
    assert replayed[0]["median_error"] <= 0.001
    assert replayed[0]["worst_error"] == max(abs(one["error"]) for one in sizes)


def test_a_table_for_people(call: Call, run: Path) -> None:
    text = call("predict", "--engine", "simgrid", "--machine", run, "--replay").out
    assert "measured" in text
    assert "4 MiB" in text
    assert "error: median 0.0 %" in text


def test_the_run_is_a_machine_for_more_ranks(call: Call, run: Path) -> None:
    done = call(
        *(
            "predict",
            "--engine",
            "simgrid",
            "--machine",
            run,
            "--pattern=pingpong,barrier",
            "--ranks=2,5",
        ),
        *("--bytes=0,1K,1M", "--json", "--out=simulated"),
    )
    points = json.loads(done.out)["points"]
    by_size = {
        one["bytes"]: one["median_s"]
        for one in points
        if (one["pattern"], one["ranks"]) == ("pingpong", 2)
    }
    assert by_size[1 << 20] == pytest.approx(7.5e-6 + 1e-10 * (1 << 20), rel=0.02)
    assert {one["transport"] for one in points} == {"simulated"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("words", [("dense",), ("--ranks=4",), ("--set=node.ranks=2",)])
def test_it_goes_with_nothing_else(call: Call, run: Path, words: tuple[str, ...]) -> None:
    done = call("predict", "--engine", "simgrid", *words, "--machine", run, "--replay")
    done.is_error(2, "--replay does not go with")


def test_it_needs_a_run(call: Call) -> None:
    call("predict", "--engine", "simgrid", "--machine=altix-bx2", "--replay").is_error(
        2, "is no run"
    )
