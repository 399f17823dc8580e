"""`nhalf run --resume`: what was interrupted, cut off or damaged goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.cli.outcome import PURSUING_LEAST_S
from nhalf.cli.verbs import run
from nhalf.jobs.request import RunRequest
from nhalf.statistics.family import INTERIM_ANALYSES
from nhalf.store.keys import VERSION
from tests.nhalf.cli.model_machine import EXACT, Call, model, needs_probes
from tests.patience import duration, patience_s

pytestmark = needs_probes


class TestGoingOn:
    def test_a_finished_run_is_left_as_it_is(self, call: Call, tmp_path: Path) -> None:
        assert call(*model("r", "--bytes", "0,8", "--quiet")).code == 0
        before = (tmp_path / "r/journal.jsonl").read_bytes()
        ended = call("run", "--resume", "r")
        assert (ended.code, ended.err) == (0, "")
        assert "latency" in ended.out
        assert (tmp_path / "r/journal.jsonl").read_bytes() == before

    def test_what_was_cut_off_is_measured_again(self, call: Call, tmp_path: Path) -> None:
        whole = json.loads(call(*model("r", "--bytes", "0:64", "--json")).out)
        journal = tmp_path / "r/journal.jsonl"
        (tmp_path / "r/measurements.parquet").unlink()
        content = journal.read_bytes()
        for cut in (len(content) // 3, len(content) - 1, 0):
            journal.write_bytes(content[:cut])
            ended = call("run", "--resume", "r", "--json")
            assert ended.code == 0, ended.err
            points = json.loads(ended.out)["points"]
            assert [p["bytes"] for p in points] == [p["bytes"] for p in whole["points"]]
            assert {p["launches"] for p in points} == {2}
            assert min(p["samples"] for p in points) >= 40

    def test_an_empty_journal_is_begun(self, call: Call, tmp_path: Path) -> None:
        assert call(*model("r", "--bytes", "0,8", "--quiet")).code == 0
        (tmp_path / "r/measurements.parquet").unlink()
        (tmp_path / "r/journal.jsonl").unlink()
        call("show", "r").is_error(2, "holds no finished point", "--resume")
        assert call("run", "--resume", "r", "--quiet").code == 0
        assert call("show", "r").code == 0

    @pytest.mark.parametrize(
        ("content", "word"),
        [
            (b"{", "run.json is damaged"),
            (b'{"schema": 1}', "has a plan that this nhalf does not know"),
            (b'{"schema": 9}', "version 9"),
        ],
    )
    def test_a_damaged_description(
        self, call: Call, tmp_path: Path, content: bytes, word: str
    ) -> None:
        (tmp_path / "r").mkdir()
        (tmp_path / "r/run.json").write_bytes(content)
        call("run", "--resume", "r").is_error(2, word)

    def test_damage_in_the_middle_of_the_journal(self, call: Call, tmp_path: Path) -> None:
        assert call(*model("r", "--bytes", "0,8", "--quiet")).code == 0
        journal = tmp_path / "r/journal.jsonl"
        journal.write_bytes(b"garbage\n" + journal.read_bytes())
        call("run", "--resume", "r").is_error(2, "journal.jsonl is damaged at line 1")

    def test_a_run_that_is_not_there(self, call: Call, tmp_path: Path) -> None:
        call("run", "--resume", "nowhere").is_error(2, "nowhere is not a run directory")
        assert not (tmp_path / "nowhere").exists()

    def test_the_plan_is_not_changed_on_the_way(self, call: Call, tmp_path: Path) -> None:
        assert call(*model("r", "--bytes", "0,8", "--quiet")).code == 0
        call("run", "--resume", "r", "--bytes", "9").is_error(2, "--bytes")
        call("run", "--resume", "r", "--out", "s", "--seed", "2").is_error(2, "--out", "--seed")
        assert not (tmp_path / "s").exists()


class TestMore:
    NOISY = "noise=0.3,launch_noise=0.1"

    def test_launches_are_added_to_a_finished_run(self, call: Call, tmp_path: Path) -> None:
        assert call(*model("r", "--bytes", "0,8", "--quiet")).code == 0
        before = (tmp_path / "r/journal.jsonl").read_bytes()
        ended = call("run", "--resume", "r", "--launches", "6", "--json")
        assert ended.code == 0, ended.err
        assert {p["launches"] for p in json.loads(ended.out)["points"]} == {6}
        assert (tmp_path / "r/journal.jsonl").read_bytes().startswith(before)
        said = json.loads((tmp_path / "r/run.json").read_text())
        assert said["plan"]["launches"] == 6
        assert [one["launches"] for one in said["extended"]] == [6]
        call("run", "--resume", "r", "--launches", "6").is_error(2, "6 launches already")
        call("run", "--resume", "r", "--launches", "7", "--ranks", "4").is_error(2, "--ranks")

    def test_added_launches_that_were_interrupted_are_made(
        self, call: Call, tmp_path: Path
    ) -> None:
        assert call(*model("r", "--bytes", "0,8", "--quiet")).code == 0
        assert call("run", "--resume", "r", "--launches", "4", "--quiet").code == 0
        journal = tmp_path / "r/journal.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        (extended,) = [n for n, line in enumerate(lines) if b'"extended"' in line]
        journal.write_bytes(b"".join(lines[: extended + 3]))
        ended = call("run", "--resume", "r", "--json")
        assert {p["launches"] for p in json.loads(ended.out)["points"]} == {4}

    @pytest.mark.full
    def test_a_budget_is_spent_where_the_precision_is_missed(
        self, call: Call, tmp_path: Path
    ) -> None:
        words = model("r", "--bytes", "0,8", "--quiet", parameters=self.NOISY)
        assert call(*words).code == 0
        ended = call("run", "--resume", "r", "--budget", duration(3), "--json")
        assert ended.code == 0, ended.err
        assert min(p["launches"] for p in json.loads(ended.out)["points"]) > 2
        before = (tmp_path / "r/journal.jsonl").read_bytes()
        assert call("run", "--resume", "r", "--quiet").code == 0
        assert (tmp_path / "r/journal.jsonl").read_bytes() == before, "it has ended"


class TestLike:
    def test_the_same_points_are_measured(self, call: Call, tmp_path: Path) -> None:
        first = model("a", "--bytes", "0:100", "--pattern", "pingpong,stream", "--json")
        whole = json.loads(call(*first).out)["points"]
        again = call("run", "--like", "a", "--out", "b", "--json", "--launches", "3")
        assert again.code == 0, again.err
        points = json.loads(again.out)["points"]
        key = ("pattern", "ranks", "placement", "axes", "bytes")
        assert [[p[k] for k in key] for p in points] == [[p[k] for k in key] for p in whole]
        assert {p["launches"] for p in points} == {3}
        assert {p["transport"] for p in points} == {"model"}

    def test_its_run_is_opened_once(
        self, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert call(*model("a", "--bytes", "0,8", "--quiet")).code == 0
        opened: list[Any] = []
        read = run.run_and_library
        monkeypatch.setattr(
            run, "run_and_library", lambda place: opened.append(place) or read(place)
        )
        prepared = run._prepare(RunRequest(like=str(tmp_path / "a"), out=tmp_path / "b"))
        assert prepared.plan.transports == ["model"]
        assert opened == [str(tmp_path / "a")]

    def test_one_library_is_measured_again_and_compared_with_itself(self, call: Call) -> None:
        both = ("--transport", "model,threads", "--bytes", "8,64", "--launches", "3")
        assert call("run", "--out", "a", *both, "--quiet").code == 0
        slower = ("run", "--model", "L=7e-6", "--json", "--like")
        again = json.loads(call(*slower, "a:model", "--out", "b").out)
        assert {point["transport"] for point in again["points"]} == {"model"}
        (effect,) = again["against"]["effects"]
        assert (effect["finding"], again["against"]["finding"]) == ("regression", "regression")
        call(*slower, "a:thread").is_error(2, "unknown library 'thread' of a", "mean threads?")
        call(*slower, "a:model", "--mpi", "mpich,openmpi").is_error(2, "model is compared with one")

    def test_points_are_not_named_again(self, call: Call) -> None:
        assert call(*model("a", "--bytes", "0,8", "--quiet")).code == 0
        call("run", "--like", "a", "--bytes", "8").is_error(2, "does not go with --bytes")
        call("run", "quick", "--like", "a").is_error(2, "does not go with another study")

    def test_the_study_of_that_run_may_be_named_again(self, call: Call, tmp_path: Path) -> None:
        block = '[[block]]\npatterns = ["pingpong"]\nbytes = "0,8"\nlaunches = 3\n'
        (tmp_path / "mine.toml").write_text(f'title = "Mine"\n{block}', "utf-8")
        study = ("run", "mine.toml", "--quiet")
        assert call(*study, "--transport", "model", "--out", "a").code == 0
        assert call(*study, "--like", "a", "--out", "b").code == 0


def _slow_down(run: Path, **factors: float) -> None:
    """Multiply the times of patterns."""
    file = run / "measurements.parquet"
    factor = pl.col("pattern").replace_strict(factors, return_dtype=pl.Float64)
    slower = pl.read_parquet(file).with_columns(pl.col("samples_s") * factor)
    slower.write_parquet(file, metadata={"nhalf.schema": str(VERSION)})
    (run / "journal.jsonl").unlink()


class TestUntilDecided:
    NOISY = ("--transport", "model", "--model", "noise=0.02,launch_noise=0.08", "--bytes", "8,64")

    def test_unclear_curves_alone_go_on(self, call: Call, tmp_path: Path) -> None:
        pattern = ("--pattern", "pingpong,exchange")
        assert call("run", "--out", "a", *self.NOISY, *pattern, "--launches", "60").code == 0
        _slow_down(tmp_path / "a", exchange=8.0, pingpong=0.97)
        words = ("run", "--like", "a", "--launches", "3", "--seed", "7", "--out", "b", "--json")
        ended = call(*words, "--until-decided", duration(3))
        assert ended.code == 0, ended.err
        events = map(json.loads, (tmp_path / "b/journal.jsonl").read_text().splitlines())
        extended = [event["curves"] for event in events if event["event"] == "extended"]
        assert {curve["pattern"] for curves in extended for curve in curves} == {"pingpong"}
        launches = {p["pattern"]: p["launches"] for p in json.loads(ended.out)["points"]}
        assert launches["exchange"] == 3 < launches["pingpong"]
        plan = json.loads((tmp_path / "b/run.json").read_text())["plan"]
        assert plan["looks"] == INTERIM_ANALYSES
        checked = json.loads(call("check", "b", "--against", "a", "--json").out)
        assert checked["effects"] == json.loads(ended.out)["against"]["effects"]

    def test_it_ends_at_once_where_nothing_is_unclear(self, call: Call, tmp_path: Path) -> None:
        assert call("run", "--out", "a", *self.NOISY, "--launches", "5").code == 0
        slower = ("--model", "L=50e-6", "--launches", "3", "--quiet")
        ended = call("run", "--like", "a", *slower, "--out", "b", "--until-decided", "1h")
        assert (ended.code, ended.err) == (1, "")
        assert b"extended" not in (tmp_path / "b/journal.jsonl").read_bytes()

    def test_what_is_unclear_ends_where_nobody_asked_for_more(
        self, call: Call, tmp_path: Path
    ) -> None:
        noisy = ("--transport", "model", "--model", "launch_noise=0.3", "--bytes", "8,64")
        assert call("run", "--out", "a", *noisy, "--launches", "3").code == 0
        ended = call("run", "--like", "a", "--launches", "3", "--seed", "7", "--out", "b", "--json")
        (effect,) = json.loads(ended.out)["against"]["effects"]
        assert effect["finding"] == "unclear"
        assert b"extended" not in (tmp_path / "b/journal.jsonl").read_bytes()

    def test_it_needs_something_to_decide(self, call: Call) -> None:
        call("run", "--until-decided", "5m").is_error(2, "name a run with --like")
        call("run", "--like", "a", "--until-decided", "soon").is_error(2, "not a duration")
        submitted = call("run", "--like", "a", "--until-decided", "5m", "--submit")
        submitted.is_error(2, "does not go with --submit")


class TestPursuing:
    PATTERNS = ("--pattern", "pingpong,exchange")

    @pytest.mark.full
    def test_the_curve_that_looks_slowest_has_the_rest_of_the_time(
        self, call: Call, tmp_path: Path
    ) -> None:
        noisy = TestUntilDecided.NOISY
        assert call("run", "--out", "a", *noisy, *self.PATTERNS, "--launches", "30").code == 0
        _slow_down(tmp_path / "a", exchange=0.6, pingpong=1.0)
        budget = f"{max(patience_s(5), PURSUING_LEAST_S):.0f}s"
        words = ("run", "--like", "a", "--budget", budget, "--seed", "7", "--out", "b", "--json")
        ended = call(*words)
        assert ended.code == 1, ended.err
        events = map(json.loads, (tmp_path / "b/journal.jsonl").read_text().splitlines())
        (extended,) = [event["curves"] for event in events if event["event"] == "extended"]
        assert [curve["pattern"] for curve in extended] == ["exchange"]
        launches = {p["pattern"]: p["launches"] for p in json.loads(ended.out)["points"]}
        assert launches["pingpong"] < launches["exchange"]
        kept = json.loads((tmp_path / "b/run.json").read_text())
        (extension,) = kept["extended"]
        assert kept["plan"]["budget_s"] == pytest.approx(2.5 * extension["budget_s"])
        assert kept["plan"].get("looks", 1) == 1, "it is judged once"

    def test_all_of_a_short_run_is_for_all_curves(self, call: Call, tmp_path: Path) -> None:
        noisy = TestUntilDecided.NOISY
        assert call("run", "--out", "a", *noisy, *self.PATTERNS, "--launches", "3").code == 0
        assert call("run", "--like", "a", "--budget", "2s", "--out", "b").code == 0
        assert b"extended" not in (tmp_path / "b/journal.jsonl").read_bytes()


def test_a_run_of_version_1_goes_on(call: Call, tmp_path: Path) -> None:
    """Its plan is one block, and its points have no further axes."""
    old = Path(__file__).parents[2] / "store" / "version-1"
    shutil.copytree(old, tmp_path / "r")
    whole = json.loads(call("show", "r", "--json").out)["points"]
    (tmp_path / "r/measurements.parquet").unlink()
    lines = (tmp_path / "r/journal.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "r/journal.jsonl").write_text("".join(lines[:-3]))
    ended = call("run", "--resume", "r", "--json")
    assert ended.code == 0, ended.err
    points = json.loads(ended.out)["points"]
    assert [(p["pattern"], p["bytes"], p["launches"], p["axes"]) for p in points] == [
        (p["pattern"], p["bytes"], 2, {}) for p in whole
    ]
    for before, after in zip(whole, points, strict=True):
        assert after["median_s"] == pytest.approx(before["median_s"], rel=EXACT)
