"""`nhalf run` on the simulated machine, whose every number is known, and with bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nhalf.cli.listing import GROUPS
from nhalf.measure.plan.budget import CURVE_BUDGET_S
from tests.nhalf.cli.model_machine import (
    EXACT,
    GAP,
    MACHINE,
    PAIRWISE,
    PER_BYTE,
    T0_S,
    Call,
    fitted,
    model,
    needs_probes,
)

pytestmark = needs_probes


class TestExact:
    """Formulas: T(n) = o_s + L + o_r + n G for everything between two ranks in turn."""

    def test_measured_times_are_the_given_ones(self, call: Call) -> None:
        sizes = (0, 1, 1000, 10**6)
        patterns = ",".join([*PAIRWISE, "stream"])
        words = ["--bytes", ",".join(map(str, sizes)), "--pattern", patterns, "--json"]
        ended = call(*model("r", *words))
        assert (ended.code, ended.err) == (0, "")
        answer = json.loads(ended.out)
        keys = {"schema", "run", "points", "results", "guidelines", "unresolved", "notes"}
        assert set(answer) == keys
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
        assert first == pytest.approx(GAP, rel=EXACT)

    def test_fitted_parameters_are_the_given_ones(self, call: Call, tmp_path: Path) -> None:
        assert call(*model("r", "--quiet")).code == 0
        (one,) = fitted(call, tmp_path / "r")
        (segment,) = one["segments"]
        assert segment["t0_s"] == pytest.approx(T0_S, rel=EXACT)
        assert 1 / segment["r_inf_Bps"] == pytest.approx(PER_BYTE, rel=EXACT)
        assert segment["n_half_bytes"] == pytest.approx(T0_S / PER_BYTE, rel=EXACT)
        assert one["heldout_p95"] < EXACT

    @pytest.mark.parametrize(
        "eager_bytes",
        [777, *(pytest.param(size, marks=pytest.mark.full) for size in (4096, 50_000))],
    )
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

    @pytest.mark.full
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
    (["--bytes", "4Mb"], 2, "'4Mb' is a number of bits; write bytes as 4MB"),
    (["--bytes", "8:4"], 2, "write 4:8"),
    (["--bytes", "1T"], 2, "do not fit the memory"),
    (["--bytes", "0:1T"], 2, "do not fit the memory"),
    (["--bytes", "2T"], 2, "1T is the largest"),
    (["--bytes", "0:1G:1"], 2, "more than 100000 sizes"),
    (["--ranks", "two"], 2, "not a list of ranks"),
    (["--ranks", "0"], 2, "give 1 or more"),
    (["--ranks", "-2"], 2, "give 1 or more"),
    (["--ranks", "1"], 2, "needs 2 ranks"),
    (["--ranks", "99999999999"], 2, "the number of ranks cannot be '99999999999'"),
    (["--launches", "0"], 2, "--launches"),
    (["--launches", "x"], 2, "--launches"),
    (["--precision", "0"], 2, "a precision of 0"),
    (["--precision", "3.5"], 2, "'3.5' has no %; write 3.5%"),
    (["--precision", "nan"], 2, "'nan' is not a share"),
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
    (["--ranks", "5:4"], 2, "not a number of ranks here"),
    (["--placement", "cores,fre"], 2, "did you mean free"),
]


class TestBadInput:
    @pytest.mark.sampled(11)
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


def test_help_says_how_long_a_run_without_a_budget_takes(call: Call) -> None:
    text = " ".join(call("run", "--help").out.split())
    assert f"about {CURVE_BUDGET_S:g} s for each pattern on each library" in text


def test_patterns_are_listed_with_what_they_measure(call: Call) -> None:
    found = json.loads(call("run", "--list", "--json").out)["patterns"]
    assert {"pingpong", "allreduce", "osu"} - {one["name"] for one in found} == {"osu"}
    listed = call("run", "--list").out
    assert all(one["name"] in listed for one in found)
    table = call("run", "--list", "--format", "csv").out
    assert all(one["name"] in table for one in found)


def test_patterns_are_grouped_with_their_variants(call: Call) -> None:
    lines = call("run", "--list").out.splitlines()
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings[0] == "Studies:"
    assert len(headings) == 1 + len(GROUPS)
    (line,) = (line for line in lines if line.split()[:1] == ["bcast"])
    assert line.endswith("(also bcast-persistent, bcast-threads, ibcast)")
    begun = {line.split()[0] for line in lines if line.startswith("  ")}
    assert {"reduce", "reduce-scatter", "scan", "pingpong-ssend"} <= begun
    assert not {"ibcast", "ireduce-scatter", "stream-threads"} & begun


def test_those_with_a_word_are_listed(call: Call) -> None:
    answer = json.loads(call("run", "--list", "BCAST", "--json").out)
    names = {entry["name"] for entry in answer["patterns"]}
    assert {"bcast", "ibcast", "bcast-threads"} <= names
    assert "allreduce" not in names
    assert "Patterns:" in call("run", "--list", "ibcast").out
    call("run", "--list", "nothing-like-it").is_error(2, "unknown study or pattern")


def test_a_pattern_where_a_study_is_asked_for(call: Call) -> None:
    words = "pingpong is a pattern, not a study; did you mean --pattern pingpong?"
    call("run", "pingpong").is_error(2, words)
    call("run", "quik").is_error(2, "unknown study 'quik'", "did you mean quick")


def test_a_run_like_another_ends_with_what_changed(call: Call) -> None:
    model = ("run", "--transport", "model", "--bytes", "8,1K", "--launches", "3", "--out")
    assert call(*model, "before").code == 0
    slower = call(
        *("run", "--transport", "model", "--model", "L=7e-6", "--like", "before", "--out", "now")
    )
    assert (slower.code, slower.out.splitlines()[-1]) == (1, "regression")
    assert "pingpong" in slower.out.split("against before:")[1]
    same = call("run", "--transport", "model", "--like", "before", "--out", "again")
    assert (same.code, same.out.splitlines()[-1]) == (0, "no regression")
    silent = ("run", "--transport", "model", "--model", "L=7e-6", "--like", "before", "--out")
    quiet = call(*silent, "quiet", "--quiet")
    assert (quiet.code, quiet.out) == (1, "")
    told = call(*silent, "told", "--json")
    (effect,) = json.loads(told.out)["against"]["effects"]
    assert (told.code, effect["finding"]) == (1, "regression")


@pytest.mark.parametrize(("ranks", "is_told"), [(4, False), (300, True)])
def test_many_ranks_of_the_model_are_announced(call: Call, ranks: int, is_told: bool) -> None:
    words = ("run", "--transport", "model", "--pattern", "pingpong", "--bytes", "8")
    ended = call(*words, "--ranks", ranks, "--launches", 1, "--budget", "1s")
    assert ("nhalf predict and its --engine simgrid are for many ranks" in ended.err) == is_told
