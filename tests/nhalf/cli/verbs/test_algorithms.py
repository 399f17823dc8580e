"""`--algorithm` of `nhalf run`, here and by SimGrid, from the command line to the report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.store.run import Run
from tests.probes import is_built

Call = Callable[..., Any]
MESSAGE_S = 1e-6 + 1e-5 + 1e-6
MACHINE = "o_s=1e-6,o_r=1e-6,g=2e-6,L=1e-5,G=1e-9"
WORDS = ["run", "--transport", "model", "--model", MACHINE, "--launches", "2", "--ranks", "4"]


def points_of(ended: Any) -> dict[tuple[str, str, str, int], float]:
    """Times by pattern, algorithm, axes and size."""
    assert (ended.code, ended.err) == (0, ""), ended.err
    return {
        (one["pattern"], one["algorithm"], str(one["axes"] or ""), one["bytes"]): one["median_s"]
        for one in json.loads(ended.out)["points"]
    }


@pytest.mark.skipif(not is_built("probe-model"), reason="the probes are not built")
class TestRun:
    def test_each_algorithm_is_a_point_with_its_own_time(self, call: Call) -> None:
        words = ["--pattern", "bcast,barrier", "--bytes", "1000", "--out", "r", "--json"]
        found = points_of(call(*WORDS, *words, "--algorithm", "native,binomial,central,linear"))
        one_s = MESSAGE_S + 1000e-9
        apart_s = 2e-6 + 1000e-9
        expected = {
            ("bcast", "native", "", 1000): 2 * one_s,
            ("bcast", "binomial", "", 1000): 2 * one_s,
            ("bcast", "linear", "", 1000): one_s + 2 * apart_s,
            ("barrier", "native", "", 0): 2 * MESSAGE_S,
            ("barrier", "central", "", 0): 2 * MESSAGE_S + 4 * 2e-6,
        }
        assert found == pytest.approx(expected, rel=1e-6)

    def test_all_are_those_that_the_probe_lists_and_further_axes_stay(self, call: Call) -> None:
        words = ["--pattern", "reduce-scatter,pingpong", "--bytes", "64", "--axis", "place=out,in"]
        found = points_of(call(*WORDS, *words, "--algorithm", "all", "--out", "r", "--json"))
        ways = ["native", "pairwise", "recursive-halving", "ring"]
        in_place = "{'place': 'in'}"
        expected = [("reduce-scatter", way, axes, 64) for way in ways for axes in ("", in_place)]
        assert set(found) == {*expected, ("pingpong", "native", "", 64)}

    def test_a_run_goes_on_with_the_algorithm_that_is_missing(
        self, call: Call, tmp_path: Path
    ) -> None:
        words = ["--pattern", "bcast", "--bytes", "0", "--algorithm", "native,binary,linear"]
        before = points_of(call(*WORDS, *words, "--out", "r", "--json"))
        (tmp_path / "r" / "measurements.parquet").unlink()
        journal = tmp_path / "r" / "journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        kept = [one for one in lines if '"algorithm":"binary"' not in one]
        assert len(lines) - len(kept) >= 2
        journal.write_text("".join(kept))
        resumed = points_of(call("run", "--resume", "r", "--json"))
        assert resumed == pytest.approx(before, rel=1e-9)
        events = Run.open(tmp_path / "r").events()
        assert [one["algorithm"] for one in events if one["event"] == "point"][-2:] == [
            "binary"
        ] * 2
        points = {(e["launch"], e["algorithm"]) for e in events if e["event"] == "point"}
        assert len(points) == 6

    def test_tables_and_reports_keep_them_apart(self, call: Call, tmp_path: Path) -> None:
        words = ["--pattern", "bcast", "--bytes", "0,1K", "--algorithm", "native,chain"]
        assert call(*WORDS, *words, "--out", "r", "--quiet").code == 0
        shown = call("show", "r").out
        assert "algorithm" in shown
        assert "chain" in shown
        assert call("report", "r", "--out", "r.html").code == 0
        assert "Algorithms of collective operations" in (tmp_path / "r.html").read_text()

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--algorithm", "chian"], "unknown algorithm of bcast 'chian'; did you mean chain"),
            (["--algorithm", "central"], "unknown algorithm of bcast 'central'"),
            (["--algorithm", ","], "names nothing"),
            (["--algorithm", "chain", "--axis", "algorithm=all"], "are the same"),
            (["--algorithm", "chain", "--pattern", "pingpong"], "no algorithms to choose from"),
            (["--algorithm", "chain", "--pattern", "bcast,scan"], "scan has no algorithm chain"),
        ],
    )
    def test_what_cannot_be_chosen(self, call: Call, words: list[str], said: str) -> None:
        pattern = [] if "--pattern" in words else ["--pattern", "bcast"]
        call(*WORDS, *pattern, *words, "--out", "r").is_error(2, said)

    def test_a_study_takes_them_where_it_has_them(self, call: Call, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").write_text(
            'title = "mine"\n'
            '[[block]]\npatterns = ["pingpong"]\nbytes = "0"\n'
            '[[block]]\npatterns = ["bcast", "scan"]\nbytes = "0"\n'
        )
        found = points_of(call(*WORDS, "mine.toml", "--algorithm", "chain", "--out", "r", "--json"))
        assert {(pattern, way) for pattern, way, *_ in found} == {
            ("pingpong", "native"),
            ("bcast", "chain"),
        }


@pytest.mark.usefixtures("simulator")
def test_simulated_machines_run_them_too(call: Call) -> None:
    words = [
        "predict",
        "--engine",
        "simgrid",
        "--machine",
        "sp2-mpl",
        "--pattern",
        "bcast,barrier",
        "--ranks",
        "3",
    ]
    found = points_of(call(*words, "--bytes", "0,1K", "--algorithm", "all", "--json"))
    ways = {way for pattern, way, *_ in found if pattern == "barrier"}
    assert {"native", "dissemination", "tournament"} <= ways
    # The root's two messages one after the other, and at least one of them alone.
    one_s = found["bcast", "chain", "", 1024] / 2
    assert one_s < found["bcast", "linear", "", 1024] < 2 * one_s


def test_multicasts_have_an_axis_of_their_own(call: Call) -> None:
    words = [
        "predict",
        "--engine",
        "simgrid",
        "multicast",
        "--machine",
        "sci-torus",
        "--algorithm",
        "u-torus",
    ]
    call(*words).is_error(2, "--algorithm is not for multicasts")
