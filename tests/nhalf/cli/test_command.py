"""What all verbs have in common: examples that are right, forms of output, completion, schemas."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest

import command_reference
from nhalf.store.keys import VERSION
from nhalf.store.run import Run
from tests.schemas import FOLDER, check_schema, validator

Call = Callable[..., Any]
COMMANDS = {
    name: command
    for name, command in command_reference.commands(command_reference.root())
    if not hasattr(command, "list_commands")
}


@pytest.fixture
def runs(tmp_path: Path, make_measurements: Callable[..., pl.LazyFrame]) -> list[Path]:
    """Two runs of two libraries."""
    made = []
    for seed, name in enumerate(("one", "two")):
        run = Run.create(tmp_path / "runs" / name, {"environment": {"host": "n1"}})
        frame = make_measurements(
            libraries=("mpich-5.0.2", "openmpi-5.0.11"),
            sizes=(0, 8, 64),
            launches=3,
            seed=seed,
            slower={"openmpi-5.0.11": 2.0},
        )
        frame.collect().drop("run").write_parquet(
            run.path / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
        )
        made.append(run.path)
    return made


def test_examples_in_help_call_the_verb_with_options_that_it_has() -> None:
    for name, command in COMMANDS.items():
        assert command.examples, f"{name} has no example"
        options = {option for parameter in command.params for option in parameter.opts}
        for example in command.examples:
            # What prints variables stands within `env $(...)`.
            inner = example.rpartition("env $(")[2]
            line = re.split(r" > | -- " if inner == example else r" > | -- |\) ", inner)[0]
            words = shlex.split(line)
            # A source of a program is known by its name.
            is_source = name.endswith(" --source") and any(word.endswith(".c") for word in words)
            verb = name.removesuffix(" --source") if is_source else name
            assert " ".join(words).startswith(verb), example
            used = {word.split("=")[0] for word in words if word.startswith("--")}
            assert used <= options | set(name.split()), example


def test_help_shows_the_examples(call: Call) -> None:
    out = call("history", "--help").out
    assert "\nExamples:\n  nhalf history runs\n" in out


@pytest.mark.parametrize("group", [(), ("mpi",), ("lab",), ("machines",)], ids=" ".join)
def test_help_of_a_group_shows_examples_of_its_verbs(call: Call, group: tuple[str, ...]) -> None:
    out = call(*group, "--help").out
    shown = re.search(r"\nExamples:\n((?:  .+\n)+)", out)
    assert shown, out
    assert re.search(rf"^  (env \$\()?nhalf {' '.join(group)}", shown[1], re.MULTILINE)


OTHER_WORDS = {
    "--cpus", "--form", "--library", "--operation", "--prefix", "--size",
    "--sizes", "--threshold",
}  # fmt: skip
"""Words that options had, or could have, for what another verb calls by another name."""


def test_options_have_one_vocabulary() -> None:
    used = {
        option: name
        for name, command in COMMANDS.items()
        for parameter in command.params
        for option in parameter.opts
    }
    assert not {option: name for option, name in used.items() if option in OTHER_WORDS}


def test_a_former_spelling_is_understood_and_not_shown(call: Call, tmp_path: Path) -> None:
    asked = ("predict", "bcast", "--machine", "sp2-mpl", "--ranks", "4", "--bytes", "8")
    for spelled in ("--out", "--table"):
        table = tmp_path / spelled
        call(*asked, spelled, str(table))
        assert table.is_file()
    assert "--table" not in call("predict", "--help").out


@pytest.mark.parametrize(("typed", "share"), [("5%", 0.05), ("0.05", 0.05)])
def test_shares_are_percentages_or_fractions(typed: str, share: float) -> None:
    (gain,) = [one for one in COMMANDS["nhalf tune"].params if one.name == "least_share"]
    assert gain.type(typed) == share


WORDS = {
    "show": ["show", "{one}"],
    "compare": ["compare", "{one}:mpich", "{two}:openmpi"],
    "compare several": ["compare", "{one}", "{two}", "{one}"],
    "check": ["check", "{two}", "--against", "{one}"],
    "history": ["history", "{runs}"],
    "sql": ["show", "--sql", "select run, mpi, advice from points", "{runs}"],
    "machines": ["machines", "list"],
    "exports": ["export", "--list"],
    "machine": ["show", "sp2-mpl"],
    "machines compared": ["compare", "sp2-mpl", "sp2-pvme", "--ranks", "2"],
    "predict": ["predict", "bcast", "--machine", "sp2-mpl", "--ranks", "4"],
}


def asked(call: Call, words: list[str], runs: list[Path], form: str) -> Any:
    places = {"one": runs[0], "two": runs[1], "runs": runs[0].parent}
    ended = call(*(word.format(**places) for word in words), "--format", form)
    assert ended.code in (0, 1), ended.err
    return ended


@pytest.mark.sampled(2)
@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_tables_are_printed_for_other_programs(
    call: Call, runs: list[Path], words: list[str]
) -> None:
    out = asked(call, words, runs, "csv").out
    for part in re.split(r"\n\n", out.strip()):
        lines = list(csv.reader(io.StringIO(part)))
        assert len({len(line) for line in lines}) == 1, part
        assert len(lines) > 1
    said_lines = [line for line in asked(call, words, runs, "markdown").out.split("\n") if line]
    heads = [n for n, line in enumerate(said_lines) if re.fullmatch(r"\|(---\|)+", line)]
    assert heads
    for n in heads:
        assert said_lines[n - 1].count("|") == said_lines[n].count("|")
    said = json.loads(asked(call, words, runs, "json").out)
    assert next(iter(said)) == "schema"
    assert validator(said["schema"].partition("/")[0]).is_valid(said)


def test_csv_has_plain_numbers(call: Call, runs: list[Path]) -> None:
    rows = list(csv.DictReader(io.StringIO(call("show", runs[0], "--format", "csv").out)))
    assert len(rows) == 6
    assert {float(row["median_s"]) > 0 for row in rows} == {True}
    assert set(rows[0]) >= {"mpi", "pattern", "bytes", "ci_low_s", "ci_high_s", "advice"}


def test_an_unknown_format_is_named(call: Call, runs: list[Path]) -> None:
    call("show", runs[0], "--format", "cvs").is_error(2, "did you mean csv")


def test_one_library_of_a_run_by_its_short_name(call: Call, runs: list[Path]) -> None:
    for words in (["show", f"{runs[0]}:openmpi"], ["check", f"{runs[0]}:openmpi"]):
        more = ["--against", runs[0]] if words[0] == "check" else []
        ended = call(*words, *more, "--json")
        assert ended.code in (0, 1), ended.err
        said = json.loads(ended.out).get("points") or json.loads(ended.out)["expectations"]
        assert "openmpi-5.0.11" in json.dumps(said)
    shown = json.loads(call("show", f"{runs[0]}:openmpi", "--json").out)["points"]
    assert {point["mpi"] for point in shown} == {"openmpi-5.0.11"}
    call("show", f"{runs[0]}:mpich", "--mpi", "openmpi").is_error(2, "given twice")


def test_a_wide_table_is_whole_in_a_pipe_and_heeds_columns(call: Call, runs: list[Path]) -> None:
    words = ("show", "--sql", "select * from points limit 1", runs[0])
    (head,) = [line for line in call(*words, COLUMNS="").out.splitlines() if "placement" in line]
    assert "ci_high_s" in head
    assert "…" not in head
    narrow = call(*words, COLUMNS="60").out.splitlines()
    assert max(map(len, narrow)) <= 60


def test_no_color_is_honoured(call: Call, runs: list[Path]) -> None:
    words = ("compare", f"{runs[0]}:mpich", f"{runs[1]}:openmpi")
    colours = re.compile(r"\x1b\[[0-9;]*3[0-7]m")
    assert colours.search(call(*words, FORCE_COLOR="1", TERM="xterm").out)
    assert not colours.search(call(*words, FORCE_COLOR="1", TERM="xterm", NO_COLOR="1").out)


def test_a_schema_is_one_and_is_of_a_verb() -> None:
    for file in FOLDER.glob("*.json"):
        validator(file.stem)
        schema = json.loads(file.read_text())["properties"]["schema"]
        assert schema == {"const": f"{file.stem}/1"}
        verbs = {f"nhalf {file.stem}", f"nhalf {file.stem.replace('-', ' ', 1)}"}
        is_form = f"{file.stem}/1" in {command.schema for command in COMMANDS.values()}
        assert is_form or verbs & set(COMMANDS), file


def test_all_json_has_a_schema() -> None:
    with_json = {
        command.schema.partition("/")[0] or name.removeprefix("nhalf ").replace(" ", "-")
        for name, command in COMMANDS.items()
        if any(option.name == "json" for option in command.params)
    }
    assert len(with_json) > 20
    assert with_json == {file.stem for file in FOLDER.glob("*.json")}


def test_output_of_another_form_would_be_seen() -> None:
    check_schema('{"schema":"sql/1","columns":["a"],"rows":[]}')
    with pytest.raises(jsonschema.ValidationError):
        check_schema('{"schema":"sql/1","columns":["a"]}')


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("nhalf hist", "history"),
        ("nhalf run p2", "p2p"),
        ("nhalf predict bcast --machine sp2", "sp2-mpl"),
        ("nhalf history --repo", "--report"),
        ("nhalf show --format c", "csv"),
        ("nhalf show --s", "--sql"),
        ("nhalf doctor --selftest --se", "--seed"),
    ],
)
def test_the_shell_completes(call: Call, typed: str, offered: str) -> None:
    given = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    ended = call(_NHALF_COMPLETE="bash_complete", **given)
    assert f"plain,{offered}" in ended.out.splitlines(), ended


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell(call: Call, shell: str) -> None:
    ended = call("doctor", "--completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert "_NHALF_COMPLETE" in ended.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=ended.out, text=True, check=True)
    call("doctor", "--completion", "csh").is_error(2, "unknown shell")
