"""`nhalf predict --engine`: who answers, and what is said where one cannot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import InputError
from nhalf.cli.command import Command
from nhalf.cli.engines import resolved
from nhalf.cli.group import load_verb

Call = Callable[..., Any]
QUESTION = ("--machine", "sp2-mpl", "--ranks", "8", "--bytes", "8K")
SAME = 0.02


def answering(*words: str) -> tuple[str, list[str]]:
    """The command that answers `nhalf predict` with these words, by its schema, and its words."""
    name, built, own = resolved(words, load_verb)
    assert isinstance(built, Command)
    return built.schema.partition("/")[0] or name, own


@pytest.mark.parametrize(
    ("words", "schema", "own"),
    [
        (["bcast"], "predict", ["bcast"]),
        (["bcast", "--engine", "model"], "predict", ["bcast"]),
        (["beff"], "predict", ["beff"]),
        (["dense", "--ranks", "8"], "simulate", ["dense", "--ranks", "8"]),
        (["--ranks", "8", "dense"], "simulate", ["--ranks", "8", "dense"]),
        (["bcast/ring", "--engine=simgrid"], "simulate", ["--pattern", "bcast", "--algorithm"]),
        (["mine.toml", "--engine", "simgrid"], "simulate", ["mine.toml"]),
        (["--out", "dense", "bcast"], "predict", ["--out", "dense", "bcast"]),
        (["ring", "--engine", "library", "--machine=a"], "run", ["--pattern", "ring"]),
        (["--machine", "a", "--", "./p", "--engine"], "try", ["--machine", "a", "--", "./p"]),
        (["--engine", "library", "--help"], "run", ["--help"]),
        (["bcast", "--algorithm", "ring", "--bytes", "8"], "predict", ["bcast/ring", "--bytes"]),
        (["--algorithm=ring", "--bytes", "8", "bcast"], "predict", ["--bytes", "8", "bcast/ring"]),
        (["bcast", "--algorithm", "all"], "predict", ["bcast"]),
        (["--ranks", "8", "a.c"], "estimate", ["--ranks", "8", "a.c"]),
        (["--set", "n=1", "a.c", "--engine", "simgrid"], "estimate", ["--set", "n=1", "a.c"]),
        (["--out", "a.c", "bcast"], "predict", ["--out", "a.c", "bcast"]),
    ],
)
def test_the_engine_is_the_first_that_can(words: list[str], schema: str, own: list[str]) -> None:
    answered = answering(*words)
    assert answered[0] == schema
    assert answered[1][: len(own)] == own


@pytest.mark.parametrize(
    ("words", "message", "remedy"),
    [
        (["bcast", "--engine", "oracle"], "unknown engine 'oracle'", "model"),
        (["bcast", "--engine"], "unknown engine", "model"),
        (["bcast", "--collectives", "ompi"], "--engine model has no", "ask --engine simgrid"),
        (["bcast", "--noise=1%", "--engine", "simgrid"], "no option --noise", "--engine library"),
        (["bcast", "--engine", "simgrid", "--extrapolate"], "no option", "ask --engine model"),
        (["bcast", "--algorithm", "ring,linear"], "not one algorithm", "leave --algorithm out"),
        (["bcast", "--algorithm"], "not one algorithm", "leave --algorithm out"),
        (["bcast", "--engine", "library"], "on which machine?", "--machine"),
        (["--engine", "simgrid", "--", "./program"], "runs no program", "--engine library"),
    ],
)
def test_what_an_engine_cannot_do_names_the_one_that_does(
    words: list[str], message: str, remedy: str
) -> None:
    with pytest.raises(InputError, match=message) as raised:
        resolved(words, load_verb)
    assert remedy in str(raised.value)


def test_a_trace_is_replayed_and_not_run(call: Call, tmp_path: Path) -> None:
    trace = tmp_path / "trace.goal"
    trace.write_text(
        "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n"
    )
    words = [str(trace), "--machine", "sp2-mpl"]
    assert answering(*words, "--engine", "simgrid")[1] == [*words, "--simgrid"]
    with pytest.raises(InputError, match="not its trace"):
        resolved([*words, "--engine", "library"], load_verb)


def test_the_model_says_that_it_answered(call: Call) -> None:
    text = call("predict", "bcast/binomial", *QUESTION).out
    assert text.splitlines()[-1] == "answered by: model"
    assert (
        json.loads(call("predict", "bcast/binomial", *QUESTION, "--json").out)["engine"] == "model"
    )
    assert "answered" not in call("predict", "bcast/binomial", "--formula", "latex").out
    assert "answered" not in call("predict", "bcast", *QUESTION, "--format", "csv").out


@pytest.mark.slow
@pytest.mark.usefixtures("simulator")
def test_three_engines_have_one_answer(call: Call) -> None:
    words = ("predict", "bcast", "--algorithm", "binomial", "--placement", "8x1", *QUESTION)
    (row,) = json.loads(call(*words, "--json").out)["rows"]
    for engine, options in {"library": ("--mpi", "mpich"), "simgrid": ()}.items():
        ended = call(*words, "--engine", engine, *options, "--out", engine, "--json")
        assert ended.code == 0, ended.err
        answer = json.loads(ended.out)
        assert answer["engine"] == engine
        (same,) = answer["rows"]
        assert [same[name] for name in ("algorithm", "ranks", "bytes")] == ["binomial", 8, 8192]
        assert same["time_s"] == answer["points"][0]["median_s"]
        assert same["time_s"] == pytest.approx(row["time_s"], rel=SAME)


def test_the_former_verb_is_a_spelling_of_its_engine(call: Call) -> None:
    ended = call("simulate", "--machine", "nowhere")
    assert (ended.code, "unknown machine" in ended.err) == (2, True)
    assert ended.err.startswith("nhalf: the verb simulate is now: nhalf predict --engine simgrid\n")
    assert "simulate" not in call("--help").out


def test_what_is_no_pattern_is_taken_for_a_study(call: Call) -> None:
    ended = call("predict", "quik", "--engine", "simgrid", "--machine", "sp2-mpl")
    ended.is_error(2, "unknown study 'quik'", "did you mean quick")


def test_help_of_an_engine_is_its_own(call: Call) -> None:
    assert "--collectives" in call("predict", "--engine", "simgrid", "--help").out
    assert "--noise" in call("predict", "--engine", "library", "--help").out
    assert "--engine" in call("predict", "--help").out
