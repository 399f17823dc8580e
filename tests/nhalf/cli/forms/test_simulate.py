"""`nhalf predict --engine simgrid`: runs on machines of record, from words to reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import MissingError
from nhalf.mpi.simgrid import platform, probe, simgrid

Call = Callable[..., Any]


class TestMulticast:
    @pytest.mark.full
    def test_a_run_is_one_like_any_other(self, call: Call, tmp_path: Path) -> None:
        words = [
            "predict",
            "--engine",
            "simgrid",
            "multicast",
            "--machine",
            "sci-torus",
            "--bytes",
            "0,1K",
        ]
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
        assert "Costs of a multicast besides time" in page
        again = call(*words, "--out", "again", "--json")
        assert json.loads(again.out)["points"] == points

    def test_what_if_and_costs(self, call: Call) -> None:
        def time_s(*more: str) -> float:
            words = [
                "predict",
                "--engine",
                "simgrid",
                "multicast",
                "--machine",
                "sci-torus",
                "--ranks",
                "4",
                "--json",
            ]
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
        words = [
            "predict",
            "--engine",
            "simgrid",
            "multicast",
            "--machine",
            "myrinet-gm",
            "--out",
            "run",
            "--json",
        ]
        done = call(*words, "--bytes", "0")
        points = json.loads(done.out)["points"]
        assert {point["axes"]["algorithm"] for point in points} == {
            *("binary", "binomial", "separate", "serial")
        }
        call(*words, "--axis", "algorithm=u-torus").is_error(2, "holds a run already")

    @pytest.mark.sampled(3)
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
        done = call(
            "predict",
            "--engine",
            "simgrid",
            "multicast",
            "--machine",
            "sci-torus",
            *words,
            "--quiet",
        )
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
    with suppress(MissingError):  # whoever is first is told that it is compiled
        probe(simgrid())
        platform(simgrid())
    call("predict", "--engine", "simgrid", *words).is_error(2, reason)


@pytest.mark.usefixtures("simulator")
class TestMessages:
    def test_a_run_is_one_like_any_other(self, call: Call, tmp_path: Path) -> None:
        words = [
            "predict",
            "--engine",
            "simgrid",
            "--machine",
            "sp2-mpl",
            "--bytes",
            "0,1K",
            "--pattern",
            "pingpong,bcast",
        ]
        words += ["--ranks", "2,3", "--set", "network.latency=2x", "--collectives", "ompi"]
        done = call(*words, "--out", "run", "--json")
        assert (done.code, done.err) == (0, "")
        answer = json.loads(done.out)
        keys = {"schema", "engine", "run", "points", "rows", "results", "guidelines"}
        keys |= {"unresolved", "notes"}
        assert keys == answer.keys()
        assert len(answer["points"]) == 2 * 2 * 2
        for point in answer["points"]:
            assert point["transport"] == "simulated"
            assert point["mpi"].startswith("sp2-mpl")
            assert (point["launches"], point["samples"], point["verified"]) == (1, 1, True)
        again = call(*words, "--out", "again", "--json")
        assert json.loads(again.out)["points"] == answer["points"]
        self.goes_on(call, tmp_path / "run", answer["points"])

    def goes_on(self, call: Call, run: Path, points: list[dict[str, Any]]) -> None:
        """As if it had been killed before the last point."""
        (run / "measurements.parquet").unlink()
        journal = run / "journal.jsonl"
        events = [json.loads(line) for line in journal.read_text().splitlines()]
        last = max(place for place, one in enumerate(events) if one["event"] == "point")
        journal.write_text("".join(f"{json.dumps(one)}\n" for one in events[:last]))
        done = call("run", "--resume", run, "--json")
        assert (done.code, done.err) == (0, "")
        resumed = json.loads(done.out)["points"]
        assert [one["median_s"] for one in resumed] == pytest.approx(
            [one["median_s"] for one in points], rel=1e-9
        )
        call("run", "--resume", run, "--hosts", "a").is_error(2, "--hosts is not for simulated")

    def test_studies_and_layouts(self, call: Call) -> None:
        words = [
            "predict",
            "--engine",
            "simgrid",
            "beff",
            "--machine",
            "poweredge-6650",
            "--ranks",
            "4",
        ]
        call(*words).is_error(2, "nhalf predict beff --machine poweredge-6650 --ranks 4")
        words = [
            "predict",
            "--engine",
            "simgrid",
            "--machine",
            "sp2-mpl",
            "--placement",
            "4x1",
            "--bytes",
            "8",
        ]
        done = call(*words, "--pattern", "exchange", "--json")
        assert [one["ranks"] for one in json.loads(done.out)["points"]] == [4], done.err


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        ([], 2, "which machine?"),
        (["--machine", "nowhere"], 2, "unknown machine"),
        (["--machine", "altix-bx2", "--ranks", "5000"], 2, "256 nodes of 2 ranks, not 5000"),
        (["--machine", "altix-bx2", "--ranks", "-1"], 2, "'-1'"),
        (["--machine", "altix-bx2", "--bytes", "-3"], 2, "'-3'"),
        (["--machine", "altix-bx2", "--placement", "nowhere"], 2, "unknown placement"),
        (["--machine", "altix-bx2", "--placement", "2x9"], 2, "a node of altix-bx2 holds 2"),
        (["--machine", "sunfire-15k", "--placement", "other-node"], 2, "1 node, and other-node"),
        (["--machine", "altix-bx2", "--collectives", "impi"], 2, "unknown choice of collectives"),
        (["--machine", "altix-bx2", "--cost", "o_s=1"], 2, "--cost is for multicasts"),
        (["--machine", "altix-bx2", "--set", "network.topology=dragonfly:4"], 2, "dragonfly"),
        (["--machine", "altix-bx2", "--set", "network.topology=torus:0"], 2, "torus:0"),
    ],
)
def test_what_cannot_be_simulated(call: Call, words: list[str], code: int, reason: str) -> None:
    call("predict", "--engine", "simgrid", *words).is_error(code, reason)


def test_without_the_simulator_the_remedy_is_named(call: Call, tmp_path: Path) -> None:
    done = call(
        "predict",
        "--engine",
        "simgrid",
        "--machine",
        "altix-bx2",
        "--bytes",
        "0",
        PATH=str(tmp_path),
    )
    done.is_error(3, "SimGrid", "apt-get install libsimgrid-dev")
    assert not (tmp_path / "runs").exists()
