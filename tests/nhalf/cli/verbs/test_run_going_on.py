# SPDX-License-Identifier: Apache-2.0
"""`nhalf run --resume`: what was interrupted, cut off or damaged goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.nhalf.cli.model_machine import EXACT, Call, model, needs_probes

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
            assert {(p["launches"], p["samples"]) for p in points} == {(2, 40)}

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
        call("run", "--resume", "r", "--launches", "9").is_error(2, "--launches")
        call("run", "--resume", "r", "--out", "s", "--seed", "2").is_error(2, "--out", "--seed")
        assert not (tmp_path / "s").exists()


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
