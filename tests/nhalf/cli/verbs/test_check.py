"""The verb check: what it takes for expected, what it prints, how it exits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.cli.verbs import fit
from nhalf.cli.verbs.check import Request, command
from nhalf.decide.check.expected import find
from nhalf.machines import catalogue
from nhalf.store.keys import VERSION
from nhalf.store.run import Run
from tests.nhalf.cli.conftest import SIZES

Make = Callable[..., pl.LazyFrame]
Keep = Callable[..., str]
MET = '[[expect]]\nmetric="time"\nbytes=0\nat_most="1us"\n'
MISSED = '[[expect]]\nname="fast [bold]"\nsource="them"\nmetric="time"\nat_most="2us"\n'
OPEN = '[[expect]]\nmetric="time"\nmpi="once"\nat_most="1 s"\n'
ABSENT = '[[expect]]\nmetric="time"\nbytes=3\nat_most="1us"\n'


Promise = Callable[[str], str]
Call = Callable[..., Any]


def code(run: str, expect: str, **options: Any) -> int:
    """The exit code of the verb."""
    return command(Request(run=Path(run), expect=expect, **options))


@pytest.mark.parametrize(
    ("text", "strict", "expected"),
    [
        (MET, True, 0),
        (MET + MISSED, False, 1),
        (MET + ABSENT, False, 1),
    ],
)
def test_the_exit_code(
    keep: Keep, promise: Promise, text: str, strict: bool, expected: int
) -> None:
    assert code(keep("run"), promise(text), strict=strict) == expected


def test_unclear_fails_only_strictly(
    keep: Keep, promise: Promise, capsys: pytest.CaptureFixture[str]
) -> None:
    run = keep("run", libraries=["once"], launches=1)
    assert code(run, promise(OPEN)) == 0
    out = capsys.readouterr().out
    assert "one launch: there is no interval between launches" in out
    assert "is not shown to meet" in out
    assert code(run, promise(OPEN), strict=True) == 1


def test_the_table_begins_with_the_worst_and_says_who_promised(
    keep: Keep, promise: Promise, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code(keep("run"), promise(MET + ABSENT + MISSED)) == 1
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    verdicts = [row[0] for row in rows if row and row[0] in ("missed", "not", "met")]
    assert verdicts == ["missed", "not", "met", "met"]
    assert "fast [bold]" in out
    assert "promised by them: fast [bold]" in out
    assert "3 B time: no such point was measured" in out
    assert "1 missed, 1 not measured, 2 met" in out
    assert code(keep("again"), promise(MISSED), points=True) == 1
    assert capsys.readouterr().out.count("fast [bold]") == len(SIZES) + 1


def test_json_is_one_object(
    keep: Keep, promise: Promise, capsys: pytest.CaptureFixture[str]
) -> None:
    run = keep("run")
    assert code(run, promise(MISSED + MET), json=True) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "missed"
    assert answer["kind"] == "expectations"
    assert answer["counts"] == {"missed": 1, "not measured": 0, "unclear": 0, "met": 2}
    first = answer["expectations"][0]
    assert (first["name"], first["source"], first["verdict"]) == ("fast [bold]", "them", "missed")
    worst = max(first["points"], key=lambda point: point["bytes"])
    assert worst["bytes"] == 65536
    assert worst["measured"] == pytest.approx(1e-6 + 65536 / 5e9)
    assert worst["ci"] == pytest.approx([worst["measured"]] * 2)
    assert (worst["at_least"], worst["at_most"]) == (None, pytest.approx(2e-6))
    assert worst["excess"] == pytest.approx(worst["measured"] / 2e-6 - 1)


def test_a_former_run_a_machine_and_its_name(
    keep: Keep,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    former, now = keep("former"), keep("now", slower={"mpich": 1.2})
    slight = keep("slight", slower={"mpich": 1.05})
    (tmp_path / "machines").mkdir()
    fit.command(fit.Request(run=Path(former), out=tmp_path / "machines" / "known.toml"))
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path / "machines")
    for expect in (former, str(tmp_path / "machines" / "known.toml"), "known"):
        assert code(now, expect) == 1
        assert code(now, expect, tolerance="25%") == 0
        assert code(former, expect, tolerance="0%") == 0
        assert code(slight, expect) == 0
        assert code(slight, expect, tolerance="0%") == 1
        assert code(now, expect, pattern="pingpong", mpi="mpich", tolerance="25%") == 0
    capsys.readouterr()


def test_every_curve_is_checked_and_only_those_that_are_wanted(
    keep: Keep, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A transport without a library is one of several, not what is meant by no --mpi."""
    libraries, patterns = ["", "mpich", "openmpi"], ["pingpong", "exchange"]
    run = keep("run", libraries=libraries, patterns=patterns)
    fit.command(fit.Request(run=Path(run), out=tmp_path / "machine.toml"))
    capsys.readouterr()
    for expect in (run, str(tmp_path / "machine.toml")):
        for narrow, curves in (
            ({}, 6),
            ({"mpi": "mpich"}, 2),
            ({"pattern": "exchange"}, 3),
            ({"mpi": "mpich", "pattern": "exchange"}, 1),
        ):
            assert code(run, expect, json=True, **narrow) == 0
            answer = json.loads(capsys.readouterr().out)
            assert len(answer["expectations"]) == 1 + curves
    # A library that has another name there is compared with the only one.
    other = keep("other", libraries=["mpich-4"], patterns=patterns)
    assert code(run, other, mpi="mpich", json=True) == 0
    assert len(json.loads(capsys.readouterr().out)["expectations"]) == 3


def test_junit_is_written_beside(
    keep: Keep, promise: Promise, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "junit.xml"
    assert code(keep("run"), promise(MISSED), junit=path) == 1
    suite = xml.parse(path).getroot().find("testsuite")
    assert suite is not None
    assert suite.attrib["name"] == "promise"
    assert suite.attrib["hostname"] == "n1"
    assert float(suite.attrib["time"]) > 0
    assert suite.attrib["timestamp"] == "2023-11-14T22:13:20"
    capsys.readouterr()


def test_what_is_no_expectation_is_refused(keep: Keep, promise: Promise, tmp_path: Path) -> None:
    run = keep("run")
    for text, words in (
        ("a = 1", "holds neither expectations nor a machine"),
        ("= 1", "is not TOML"),
        ("schema = 1", "is not a machine file"),
    ):
        with pytest.raises(InputError, match=words):
            code(run, promise(text))
    for expect, words in (
        ("nowhere", "unknown machine or file 'nowhere'"),
        ("no/where.toml", "does not exist"),
        (str(tmp_path), "is not a run directory"),
    ):
        with pytest.raises(InputError, match=words):
            code(run, expect)
    with pytest.raises(InputError, match="is not a share"):
        code(run, promise(MET), tolerance="some")
    with pytest.raises(InputError, match="unknown library"):
        code(run, promise(MET), mpi="openmpi")


def test_a_run_without_a_point_is_no_pass(tmp_path: Path, promise: Promise) -> None:
    Run.create(tmp_path / "empty", {"environment": {}, "plan": {}, "titles": {}})
    (tmp_path / "empty" / "journal.jsonl").write_text("")
    with pytest.raises(InputError, match="holds no finished point"):
        code(str(tmp_path / "empty"), promise(MET))


def test_files_of_a_run_are_told_apart(keep: Keep) -> None:
    run = Path(keep("run"))
    fit.command(fit.Request(run=run, out=run / "machine.toml"))
    assert find(str(run)) == (run, "baseline")
    assert find(str(run / "run.json")) == (run / "run.json", "baseline")
    assert find(str(run / "machine.toml")) == (run / "machine.toml", "machine")


def effects(
    capsys: pytest.CaptureFixture[str], run: str, former: str
) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    ended = code(run, "", against=Path(former), json=True)
    return ended, json.loads(capsys.readouterr().out)


def test_a_regression_is_told_with_its_effect_and_interval(
    keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    noisy = {"noise": 0.01, "launch_noise": 0.01}
    former = keep("former", seed=1, **noisy)
    ended, same = effects(capsys, keep("same", seed=2, **noisy), former)
    assert (ended, same["finding"]) == (0, "no regression")
    ended, slow = effects(capsys, keep("slow", seed=3, slower={"mpich": 1.25}, **noisy), former)
    assert (ended, slow["finding"]) == (1, "regression")
    (effect,) = slow["effects"]
    assert effect["ratio"] == pytest.approx(1.25, rel=0.05)
    assert 1.1 < effect["ci"][0] < effect["ratio"] < effect["ci"][1] < 1.4
    assert code(keep("fast", seed=4, slower={"mpich": 0.5}, **noisy), "", against=Path(former)) == 0
    assert "no regression" in capsys.readouterr().out


def test_one_launch_leaves_it_open(keep: Keep, capsys: pytest.CaptureFixture[str]) -> None:
    former = keep("former", launches=1)
    ended, told = effects(capsys, keep("run", launches=1), former)
    assert (ended, told["finding"]) == (0, "unclear")
    assert told["effects"][0]["ci"] == [None, None]
    assert code(keep("strict", launches=1), "", against=Path(former), strict=True) == 1
    out = capsys.readouterr().out
    assert "pingpong, mpich: unclear (launches: 1, at least 3 are needed)" in out
    assert "to decide: add launches: nhalf run --resume" in out


def test_without_a_curve_it_is_incomplete(keep: Keep, capsys: pytest.CaptureFixture[str]) -> None:
    former = keep("former", patterns=["pingpong", "exchange"])
    ended, told = effects(capsys, keep("run"), former)
    assert (ended, told["finding"]) == (1, "incomplete")
    assert [effect["ratio"] is None for effect in told["effects"]] == [True, False]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("baseline", "now"),
    [
        ("{former}:openmpi-4.1.2", "{run}:openmpi-5.0.11"),
        ("{former}:openmpi-4", "{run}:openmpi-5"),
        ("{former}:openmpi", "{run}"),
        ("{former}", "{run}:openmpi"),
        ("{run}:openmpi-4.1.4", "{run}:openmpi-5"),
        ("{former}:mpich", "{run}:openmpi-5"),
    ],
)
def test_libraries_of_both_sides_may_be_named(
    keep: Keep, capsys: pytest.CaptureFixture[str], baseline: str, now: str
) -> None:
    noisy = {"noise": 0.01, "launch_noise": 0.01}
    paths = {
        "former": keep("former", libraries=["mpich-5.0.2", "openmpi-4.1.2"], seed=1, **noisy),
        "run": keep(
            "run",
            libraries=["openmpi-4.1.4", "openmpi-5.0.11"],
            slower={"openmpi-5.0.11": 1.5},
            seed=2,
            **noisy,
        ),
    }
    ended, told = effects(capsys, now.format(**paths), baseline.format(**paths))
    assert (ended, told["finding"], told["expect"]) == (1, "regression", baseline.format(**paths))
    (effect,) = told["effects"]
    assert "openmpi-5.0.11" in effect["curve"]
    assert effect["ratio"] == pytest.approx(1.5, rel=0.05)
    as_expected = code(now.format(**paths), baseline.format(**paths), json=True)
    assert (as_expected, json.loads(capsys.readouterr().out)["verdict"]) == (1, "missed")


def test_libraries_of_one_run_took_turns(keep: Keep, capsys: pytest.CaptureFixture[str]) -> None:
    """Launches that differ by a factor of two from round to round are compared pair by pair."""
    libraries = ["mpich-5.0.2", "openmpi-5.0.11"]
    path = keep("run", libraries=libraries, slower={libraries[1]: 1.2})
    file = Path(path) / "measurements.parquet"
    rounds = pl.read_parquet(file)
    factor = 1 + pl.col("launch") % 2
    samples = pl.concat_list(pl.col("samples_s").list.get(k) * factor for k in range(3))
    metadata = {"nhalf.schema": str(VERSION)}
    rounds.with_columns(samples_s=samples).write_parquet(file, metadata=metadata)
    ended, told = effects(capsys, f"{path}:openmpi", f"{path}:mpich")
    assert (ended, told["effects"][0]["ci"]) == (1, pytest.approx([1.2, 1.2]))


def test_a_library_that_a_side_lacks_is_named_with_its_run(keep: Keep) -> None:
    former = keep("former", libraries=["mpich-5.0.2", "openmpi-4.1.2"])
    run = keep("run", libraries=["mpich-5.0.2", "intel-2021"])
    for now, baseline, words in (
        (run, f"{former}:openmpj", r"unknown library 'openmpj' of former; did you mean openmpi-4"),
        (f"{run}:mpihc", former, r"unknown library 'mpihc' of run; did you mean mpich-5.0.2"),
        (f"{run}:intel", former, r"former has no intel to compare with intel-2021; name a library"),
        (run, f"{former}-2:openmpi", r"former-2.* is not a run directory"),
    ):
        with pytest.raises(InputError, match=words):
            code(now, "", against=Path(baseline))


def test_one_question_at_a_time(keep: Keep, promise: Promise) -> None:
    run = keep("run")
    with pytest.raises(InputError, match="two questions"):
        code(run, promise(MET), against=Path(run))
    with pytest.raises(InputError, match="nothing to check"):
        code(run, "")


def test_a_run_writes_expectations_that_it_meets(keep: Keep, tmp_path: Path, call: Call) -> None:
    run, file = keep("today"), tmp_path / "first.toml"
    ended = call("check", run, "--init", file)
    assert (ended.code, ended.out) == (0, f"expectations: {file}\n")
    text = file.read_text()
    assert text.count("[[expect]]") == 2 * text.count("bytes = 0\n") > 0
    assert "at_most" in text
    assert call("check", run, "--expect", file, "--strict").code == 0


def test_expectations_are_not_overwritten(keep: Keep, tmp_path: Path, call: Call) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("mine")
    call("check", keep("today"), "--init", file).is_error(2, "is there already", "--init")
    assert file.read_text() == "mine"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("key", "meant"),
    [("max", "at_most"), ("minimum", "at_least"), ("size", "bytes"), ("library", "mpi")],
)
def test_a_usual_word_for_a_key_is_answered_with_the_key(
    keep: Keep, promise: Promise, call: Call, key: str, meant: str
) -> None:
    file = promise(f'[[expect]]\nmetric="time"\n{key}="1 us"\n')
    remedy = f"unknown key '{key}'; did you mean {meant}?"
    call("check", keep("today"), "--expect", file).is_error(2, remedy)


def test_a_busy_machine_is_no_regression(keep: Keep, capsys: pytest.CaptureFixture[str]) -> None:
    monday = keep("monday")
    tuesday = keep("tuesday", slower={"mpich": 1.5})
    assert code(tuesday, monday) == 1
    with Run.open(Path(tuesday)).journal() as journal:
        for launch in range(3):
            journal.append(
                {
                    "event": "others",
                    "subject": "mpich",
                    "launch": launch,
                    "ranks": 2,
                    "taken_cores": 1.0,
                    "allowed": 2,
                }
            )
    file = Path(tuesday) / "measurements.parquet"
    journal_bytes = (Path(tuesday) / "journal.jsonl").stat().st_size
    metadata = {"nhalf.schema": str(VERSION), "nhalf.journal_bytes": str(journal_bytes)}
    pl.read_parquet(file).write_parquet(file, metadata=metadata)
    capsys.readouterr()
    assert code(tuesday, monday) == 0
    assert "other processes kept 1.0 of 2 cores busy" in capsys.readouterr().out
    assert code(tuesday, monday, strict=True) == 1
