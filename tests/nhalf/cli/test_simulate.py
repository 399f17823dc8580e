# SPDX-License-Identifier: Apache-2.0
"""`nhalf simulate`: runs on machines of record, from the command line to the report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.errors import MissingError
from nhalf.simulate.multicast import multicast_program

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def simulator() -> None:
    try:
        multicast_program()
    except MissingError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("simulator")
class TestMulticast:
    def test_a_run_is_one_like_any_other(self, call: Call, tmp_path: Path) -> None:
        words = ["simulate", "multicast", "--machine", "sci-torus", "--bytes", "0,1K"]
        words += ["--axis", "group=3,15", "--axis", "algorithm=s-torus,u-torus,separate"]
        done = call(*words, "--out", "run", "--json", "--report")
        assert done.code == 0, done.err
        points = json.loads(done.out)["points"]
        assert len(points) == 2 * 2 * 3 * 3
        for point in points:
            assert (point["transport"], point["mpi"]) == ("simulated", "sci-torus")
            assert (point["ranks"], point["launches"], point["samples"]) == (16, 1, 1)
            assert point["advice"] == []
            assert {"host_cpu_s", "link_concentration", "links_used"} <= set(point["values"])
        page = (tmp_path / "run/report.html").read_text("utf-8")
        assert "What a multicast costs besides time" in page
        again = call(*words, "--out", "again", "--json")
        assert json.loads(again.out)["points"] == points

    def test_what_if_and_costs(self, call: Call) -> None:
        def time_s(*more: str) -> float:
            words = ["simulate", "multicast", "--machine", "sci-torus", "--ranks", "4", "--json"]
            axes = ["algorithm=serial", "group=3", "forwarding=nic"]
            words += ["--bytes", "0", *(word for axis in axes for word in ("--axis", axis))]
            done = call(*words, *more)
            assert done.code == 0, done.err
            (point,) = json.loads(done.out)["points"]
            return float(point["median_s"])

        usual_s = time_s()
        # Two nodes forward: each spares what the adapter does not need any more.
        spared_s = usual_s - time_s("--cost", "nic_forward=0")
        assert spared_s == pytest.approx(2 * 3.6075e-6)
        assert time_s("--set", "network.latency=/2") < usual_s

    def test_ways_that_a_network_does_not_have(self, call: Call) -> None:
        words = ["simulate", "multicast", "--machine", "myrinet-gm", "--out", "run", "--json"]
        done = call(*words, "--bytes", "0")
        points = json.loads(done.out)["points"]
        assert {point["axes"]["algorithm"] for point in points} == {
            *("binary", "binomial", "separate", "serial")
        }
        call(*words, "--axis", "algorithm=u-torus").is_error(2, "holds a run already")

    @pytest.mark.parametrize(
        ("words", "code", "reason"),
        [
            (["--ranks", "17"], 2, "has 16 nodes"),
            (["--ranks", "many"], 2, "many"),
            (["--ranks", "1"], 3, "needs 2 ranks"),
            (["--bytes", "x"], 2, "x"),
            (["--axis", "colour=red"], 2, "colour"),
            (["--axis", "algorithm=best"], 3, "no value 'best'"),
            (["--axis", "group=16"], 3, "from 1 to 15"),
            (["--cost", "o_s=fast"], 2, "o_s=fast"),
            (["--set", "colour=red"], 2, "colour"),
        ],
    )
    def test_what_cannot_be(self, call: Call, words: list[str], code: int, reason: str) -> None:
        done = call("simulate", "multicast", "--machine", "sci-torus", *words, "--quiet")
        assert done.code == code, done.err
        assert reason in done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["multicast", "--machine", "nowhere"], "unknown machine"),
        (["nothing", "--machine", "sci-torus"], "nothing"),
        (["multicast", "--machine", "altix-bx2"], "a torus or around a switch"),
        (["multicast", "--machine", "sci-torus", "--axis", "group"], "name=value"),
    ],
)
def test_what_is_wrong_without_any_simulator(call: Call, words: list[str], reason: str) -> None:
    call("simulate", *words).is_error(2, reason)
