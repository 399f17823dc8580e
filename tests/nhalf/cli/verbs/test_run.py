# SPDX-License-Identifier: Apache-2.0
"""`nhalf run` on the simulated machine, whose every number is known, and with bad input."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base import native_files
from nhalf.base.errors import NhalfError

Call = Callable[..., Any]

O_S, O_R, GAP, LATENCY, PER_BYTE = 1.25e-6, 0.75e-6, 3e-6, 4.5e-6, 2.5e-10
MACHINE = f"o_s={O_S},o_r={O_R},g={GAP},L={LATENCY},G={PER_BYTE}"
T0_S = O_S + LATENCY + O_R
"""A message of no bytes: sent, under way, received."""
PAIRWISE = [
    *("pingpong", "pingpong-ssend", "pingpong-bsend", "pingpong-rsend", "pingpong-diffbuf"),
    *("pingping", "exchange"),
]
EXACT = 1e-6
"""Relative."""


def built() -> bool:
    try:
        return bool(native_files.executable("probe-model"))
    except NhalfError:
        return False


pytestmark = pytest.mark.skipif(not built(), reason="the probes are not built")


def model(out: Path | str, *words: str, parameters: str = MACHINE) -> list[str]:
    effort = () if "--launches" in words else ("--launches", "2")
    choices = ["--transport", "model", "--model", parameters]
    return ["run", *choices, "--out", str(out), *effort, *words]


def fitted(call: Call, folder: Path) -> list[dict[str, Any]]:
    ended = call("fit", folder, "--json")
    assert ended.code == 0, ended.err
    models: list[dict[str, Any]] = json.loads(ended.out)["models"]
    return models


class TestExact:
    """Formulas: T(n) = o_s + L + o_r + n G for everything between two ranks in turn."""

    def test_measured_times_are_the_given_ones(self, call: Call) -> None:
        sizes = (0, 1, 1000, 10**6)
        patterns = ",".join([*PAIRWISE, "stream"])
        words = ["--bytes", ",".join(map(str, sizes)), "--pattern", patterns, "--json"]
        ended = call(*model("r", *words))
        assert (ended.code, ended.err) == (0, "")
        answer = json.loads(ended.out)
        assert set(answer) == {"run", "points", "results", "unresolved", "notes"}
        assert answer["unresolved"] == answer["notes"] == []
        found = {(p["pattern"], p["bytes"]): p for p in answer["points"]}
        assert {pattern for pattern, _ in found} == {*PAIRWISE, "stream"}
        for pattern in PAIRWISE:
            for size in sizes:
                point = found[pattern, size]
                expected_s = T0_S + size * PER_BYTE
                for name in ("median_s", "ci_low_s", "ci_high_s"):
                    assert point[name] == pytest.approx(expected_s, rel=EXACT), (pattern, size)
                assert (point["launches"], point["verified"]) == (2, True)
        # A stream is limited by the gap: each further byte takes G, each message at least g.
        first, last = (found["stream", size]["median_s"] for size in (0, 10**6))
        assert last - first == pytest.approx(10**6 * PER_BYTE, rel=EXACT)
        assert first >= GAP

    def test_fitted_parameters_are_the_given_ones(self, call: Call, tmp_path: Path) -> None:
        assert call(*model("r", "--quiet")).code == 0
        (one,) = fitted(call, tmp_path / "r")
        (segment,) = one["segments"]
        assert segment["t0_s"] == pytest.approx(T0_S, rel=EXACT)
        assert 1 / segment["r_inf_Bps"] == pytest.approx(PER_BYTE, rel=EXACT)
        assert segment["n_half_bytes"] == pytest.approx(T0_S / PER_BYTE, rel=EXACT)
        assert one["heldout_p95"] < EXACT

    @pytest.mark.parametrize("eager_bytes", [777, 4096, 50_000])
    def test_a_rendezvous_is_bracketed_within_5_percent(
        self, call: Call, tmp_path: Path, eager_bytes: int
    ) -> None:
        """Above eager_bytes each message takes rendezvous_s more."""
        extra_s = 8e-6
        parameters = f"{MACHINE},eager_bytes={eager_bytes},rendezvous_s={extra_s}"
        assert call(*model("r", "--quiet", parameters=parameters)).code == 0
        (one,) = fitted(call, tmp_path / "r")
        (change,) = one["breakpoints"]
        assert change["low_bytes"] <= eager_bytes < change["high_bytes"]
        assert change["high_bytes"] <= 1.05 * change["low_bytes"]
        assert change["kind"] == "jump"
        below, above = one["segments"]
        assert below["t0_s"] == pytest.approx(T0_S, rel=EXACT)
        assert above["t0_s"] == pytest.approx(T0_S + extra_s, rel=EXACT)

    @pytest.mark.slow
    def test_packets_are_found_on_a_fine_grid(self, call: Call, tmp_path: Path) -> None:
        """The first packet holds 216 bytes; each of 232 after it takes packet_s more."""
        packets = "packet_offset_bytes=217,packet_bytes=232,packet_s=1.5e-6"
        words = ["--bytes", "0:2000:1", "--launches", "1", "--quiet"]
        assert call(*model("r", *words, parameters=f"{MACHINE},{packets}")).code == 0
        (one,) = fitted(call, tmp_path / "r")
        steps = one["packet_steps"]
        assert (steps["offset_bytes"], steps["period_bytes"]) == (217, 232)
        assert steps["height_s"] == pytest.approx(1.5e-6, rel=EXACT)


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


BAD = [
    (["--transport", "modle", "--model", ""], 2, "did you mean model"),
    (["--transport", ","], 2, "names nothing"),
    (["--pattern", "pingpnog"], 2, "did you mean pingpong"),
    (["--pattern", ""], 2, "names nothing"),
    (["--mpi", "nosuchmpi", "--transport", "mpi", "--model", ""], None, "MPI library"),
    (["--model", "o_z=1"], 2, "did you mean o_"),
    (["--model", "o_s=-1"], 2, "from 0 up"),
    (["--model", "o_s"], 2, "name=value"),
    (["--model", "state_fraction=2"], None, "state_fraction is a fraction"),
    (["--transport", "threads"], 2, "--model belongs to the model transport"),
    (["--bytes", "abc"], 2, "'abc' is not a size"),
    (["--bytes", ""], 2, "not a size"),
    (["--bytes", "8:4"], 2, "write 4:8"),
    (["--bytes", "1T"], 2, "do not fit the memory"),
    (["--bytes", "0:1T"], 2, "do not fit the memory"),
    (["--bytes", "2T"], 2, "1T is the largest"),
    (["--bytes", "0:1G:1"], 2, "more than 100000 sizes"),
    (["--ranks", "two"], 2, "not a list of ranks"),
    (["--ranks", "0"], 2, "give 1 or more"),
    (["--ranks", "-2"], 2, "give 1 or more"),
    (["--ranks", "1"], 2, "needs 2 ranks"),
    (["--ranks", "99999999999"], 2, "no possible number"),
    (["--launches", "0"], 2, "--launches"),
    (["--launches", "x"], 2, "--launches"),
    (["--precision", "0"], 2, "a precision of 0"),
    (["--precision", "nan"], 2, "a precision of nan"),
    (["--placement", "core"], 2, "did you mean cores"),
    (["--budget", "soon"], 2, "not a duration"),
    (["--timeout", "0s"], 2, "not a duration"),
    (["--seed", "-1"], 2, "--seed"),
    (["--what"], 2, "--what"),
    (["further"], 2, "unknown study 'further'"),
    (["none.toml"], 2, "none.toml cannot be read"),
    (["qick"], 2, "did you mean quick"),
    (["quick", "--pattern", "pingpong,scan"], 2, "unknown pattern of this study 'scan'"),
    (["--axis", "pairs"], 2, "not written as axis=values"),
    (["--axis", "=1"], 2, "not written as axis=values"),
    (["--axis", "pairs=1"], 2, "unknown axis 'pairs'"),
    (["--axis", "pairs=1", "--axis", "pairs=2"], 2, "axis pairs is given twice"),
    (["--ranks", "2:kores"], 2, "did you mean cores"),
    (["--ranks", "5:4"], 2, "no number of ranks here"),
    (["--placement", "cores,fre"], 2, "did you mean free"),
]


class TestBadInput:
    @pytest.mark.parametrize(("words", "code", "said"), BAD, ids=lambda one: str(one)[:30])
    def test_is_one_clear_line_and_leaves_nothing(
        self, call: Call, tmp_path: Path, words: list[str], code: int | None, said: str
    ) -> None:
        ended = call(*model("r"), *words)
        ended.is_error(code or ended.code, said)
        assert ended.code in (2, 3)
        left = [one.name for one in (tmp_path / "r").glob("*")]
        assert code is None or left == []
        assert not left or call("run", "--resume", "r").code in (2, 3)

    def test_a_run_is_not_overwritten(self, call: Call, tmp_path: Path) -> None:
        assert call(*model("r", "--bytes", "0", "--quiet")).code == 0
        before = {one: one.read_bytes() for one in (tmp_path / "r").iterdir()}
        call(*model("r", "--bytes", "8")).is_error(2, "holds a run already", "--resume")
        assert {one: one.read_bytes() for one in (tmp_path / "r").iterdir()} == before

    @pytest.mark.parametrize("out", ["file/run", "/proc/nhalf-run", "/dev/full"])
    def test_a_folder_that_cannot_be(self, call: Call, tmp_path: Path, out: str) -> None:
        (tmp_path / "file").touch()
        call(*model(out, "--bytes", "0")).is_error(3, "cannot be kept", "--out")

    def test_without_probes(self, call: Call, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        empty = str(tmp_path / "empty")
        ended = call(*model("r"), NHALF_NATIVE_DIR=empty)
        ended.is_error(2, "unknown transport 'model'")
        call(*model("r"), NHALF_NATIVE_DIR=f"{empty}/none").is_error(3, "make setup")
        assert not (tmp_path / "r").exists()


STUDY = """
title = "Two blocks"
budget = "20s"
[[block]]
patterns = ["pingpong", "stream", "to-come"]
bytes = "0,8"
launches = 3
[[block]]
patterns = ["exchange"]
bytes = "64"
placements = ["cores", "free"]
"""


class TestStudies:
    @pytest.fixture
    def study(self, tmp_path: Path) -> Path:
        (tmp_path / "mine.toml").write_text(STUDY)
        return tmp_path / "mine.toml"

    @staticmethod
    def points(answer: dict[str, Any]) -> dict[tuple[Any, ...], int]:
        return {(p["pattern"], p["bytes"], p["placement"]): p["launches"] for p in answer["points"]}

    def test_blocks_are_measured_and_what_is_absent_is_told(self, call: Call, study: Path) -> None:
        ended = call("run", "mine.toml", "--transport", "model", "--out", "r", "--json")
        assert ended.code == 0, ended.err
        answer = json.loads(ended.out)
        assert self.points(answer) == {
            ("pingpong", 0, "cores"): 3, ("pingpong", 8, "cores"): 3,
            ("stream", 0, "cores"): 3, ("stream", 8, "cores"): 3,
            ("exchange", 64, "cores"): 5, ("exchange", 64, "free"): 5,
        }  # fmt: skip
        assert {str(p["axes"]) for p in answer["points"]} == {"{}"}
        assert answer["notes"] == ["to-come is absent: these probes do not know it"]
        assert answer["unresolved"] == []
        plan = json.loads((study.parent / "r/run.json").read_text())["plan"]
        assert (plan["budget_s"], plan["study"]) == (20.0, "mine.toml")
        again = json.loads(call("run", "--resume", "r", "--json").out)
        assert self.points(again) == self.points(answer)
        assert again["notes"] == answer["notes"]

    def test_options_choose_and_override(self, call: Call, study: Path) -> None:
        words = ["--bytes", "16", "--launches", "1", "--placement", "free"]
        chosen = ["--pattern", "exchange,pingpong", *words]
        ended = call("run", "mine.toml", "--transport", "model", "--out", "r", *chosen, "--json")
        assert self.points(json.loads(ended.out)) == {
            ("pingpong", 16, "free"): 1,
            ("exchange", 16, "free"): 1,
        }

    def test_people_see_what_was_left_out(self, call: Call, study: Path) -> None:
        ended = call("run", "mine.toml", "--transport", "model", "--out", "r")
        assert "to-come is absent: these probes do not know it" in ended.out

    def test_a_wrong_file_leaves_nothing(self, call: Call, study: Path) -> None:
        study.write_text(STUDY.replace("launches", "lanches"))
        ended = call("run", "mine.toml", "--transport", "model", "--out", "r")
        ended.is_error(2, "mine.toml: block[0].lanches: unknown key", "did you mean")
        assert not (study.parent / "r").exists()

    def test_they_are_listed(self, call: Call) -> None:
        found = json.loads(call("run", "--list", "--json").out)["studies"]
        names = [one["name"] for one in found]
        assert {"quick", "full", "beff"} <= set(names)
        assert all(set(one) == {"name", "title", "what"} for one in found)
        listed = call("run", "--list").out
        assert all(one["name"] in listed and one["title"] in listed for one in found)


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


class TestDisks:
    SIZES = ("--bytes", "0:300:1", "--launches", "1", "--quiet")

    def test_a_file_that_may_not_grow(self, call: Call, call_afresh: Call, tmp_path: Path) -> None:
        """What a full disk or a quota does, for every user: the journal cannot grow further."""
        ended = call_afresh(
            *model("r", *self.SIZES),
            before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
        )
        self.check_and_go_on(call, ended, tmp_path / "r")

    def test_a_disk_that_gets_full(self, call: Call, small_disk: Callable[[str], Path]) -> None:
        out = small_disk("size=64k") / "r"
        ended = call(*model(out, *self.SIZES))
        assert "No space left on device" in ended.err
        small_disk("size=8m")
        self.check_and_go_on(call, ended, out)

    def check_and_go_on(self, call: Call, ended: Any, out: Path) -> None:
        ended.is_error(3, "cannot be written", f"nhalf run --resume {out}")
        content = (out / "journal.jsonl").read_bytes()
        assert content.endswith(b"\n")
        assert sorted(one.name for one in out.iterdir()) == ["journal.jsonl", "run.json"]
        shown = call("show", out, "--json")
        kept = len(json.loads(shown.out)["points"])
        assert 10 < kept < 300
        assert call("run", "--resume", out, "--quiet").code == 0
        assert (out / "journal.jsonl").read_bytes().startswith(content)
        assert len(json.loads(call("show", out, "--json").out)["points"]) == 301

    def test_a_disk_that_is_full(self, call: Call, small_disk: Callable[[str], Path]) -> None:
        disk = small_disk("size=16k")
        with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError):
            while True:
                filler.write(b"x" * 4096)
        call(*model(disk / "r", "--bytes", "0")).is_error(3, "No space left", "--out")
        assert [one.name for one in disk.iterdir()] == ["filler"]

    def test_no_room_for_the_table(self, call: Call, small_disk: Callable[[str], Path]) -> None:
        """The journal fits; what is made from it does not: nothing is lost."""
        disk = small_disk("size=1m")
        assert call(*model(disk / "r", "--bytes", "0:40:1", "--quiet")).code == 0
        (disk / "r/measurements.parquet").unlink()
        with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError):
            while True:
                filler.write(b"x" * 4096)
        ended = call("run", "--resume", disk / "r")
        ended.is_error(3, "measurements.parquet cannot be written", "all points are kept")
        assert len(list((disk / "r").iterdir())) == 2
        assert call("show", disk / "r").code == 0

    def test_a_folder_that_may_only_be_read(
        self, call: Call, small_disk: Callable[[str], Path]
    ) -> None:
        disk = small_disk("size=8m")
        assert call(*model(disk / "r", "--bytes", "0", "--quiet")).code == 0
        small_disk("ro")
        call(*model(disk / "s", "--bytes", "0")).is_error(3, "Read-only file system", "--out")
        call("run", "--resume", disk / "r").is_error(3, "Read-only file system")
        assert call("show", disk / "r").code == 0

    def test_output_that_nobody_can_take(self, call: Call, tmp_path: Path) -> None:
        assert call(*model("r", "--bytes", "0", "--quiet")).code == 0
        command = f"cd {tmp_path}; {{python}} -m nhalf show r"
        assert self.shell(command + " > /dev/full") == (3, 1)
        assert self.shell(command + " | true; exit ${{PIPESTATUS[0]}}") == (0, 0)

    @staticmethod
    def shell(command: str) -> tuple[int, int]:
        # With a buffer, as users have it: something is left to write when Python ends.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
        done = subprocess.run(
            ["bash", "-c", command.format(python=sys.executable)],
            env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert "Exception" not in done.stderr
        return done.returncode, done.stderr.count("\n")


class TestSettings:
    """A library under variables is measured beside the plain one."""

    @pytest.mark.parametrize("text", ["x: A", "A=1", "a+b: A=1", "x: LD_LIBRARY_PATH=/"])
    def test_bad_ones_are_said_before_anything_is_made(
        self, call: Call, tmp_path: Path, text: str
    ) -> None:
        call("run", "--setting", text, "--out", tmp_path / "r").is_error(2, "setting")
        assert not (tmp_path / "r").exists()

    def test_they_are_for_libraries(self, call: Call, tmp_path: Path) -> None:
        ended = call(*model(tmp_path / "r", "--setting", "x: A=1"))
        ended.is_error(2, "settings are for MPI libraries")

    def test_each_is_a_subject_whose_processes_have_the_variables(
        self, call: Call, tmp_path: Path
    ) -> None:
        words = ["--ranks", "2", "--bytes", "8", "--launches", "2", "--budget", "2s", "--json"]
        libraries = json.loads(call("mpi", "list", "--json").out)["libraries"]
        if not libraries:
            pytest.skip("no MPI library here: nhalf mpi install mpich")
        name = libraries[0]["name"]
        told = "told: NHALF_TOLD=1 LD_DEBUG=unknown"
        ended = call("run", "--mpi", name, *words, "--setting", told, "--out", tmp_path / "r")
        assert ended.code == 0, ended.err
        found = [point["mpi"] for point in json.loads(ended.out)["points"]]
        assert found == [name, f"{name}+told"]
        kept = json.loads((tmp_path / "r" / "run.json").read_text())
        told_variables = {"NHALF_TOLD": "1", "LD_DEBUG": "unknown"}
        assert kept["environment"]["settings"] == {"told": told_variables}
        assert kept["plan"]["mpi"] == [name]
        again = call("run", "--resume", tmp_path / "r", "--json")
        assert [point["mpi"] for point in json.loads(again.out)["points"]] == found
