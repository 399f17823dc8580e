# SPDX-License-Identifier: Apache-2.0
"""The group of verbs: light, complete, and with an answer to every wrong word."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from nhalf.base import plugins
from nhalf.base.errors import InputError
from nhalf.base.version import __version__
from nhalf.cli.group import ORDER, PACKAGE, command_line, load_verb

Call = Callable[..., Any]
HEAVY = ("numpy", "polars", "scipy", "altair", "rich", "msgspec", "jinja2", "vl_convert")
VERBS = plugins.names(PACKAGE)

IMPORTS = """
import sys
sys.argv = ["nhalf", *{words!r}]
from nhalf.__main__ import main
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
heavy = {heavy!r}
print(*sorted(name for name in heavy if name in sys.modules), file=sys.stderr)
"""


def heavy_after(*words: str) -> list[str]:
    """Which heavy packages are imported by a call."""
    text = IMPORTS.format(words=words, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.split()


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["run", "--help"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    assert heavy_after(*words) == []


def test_the_test_above_would_see_it() -> None:
    assert "rich" in heavy_after("machines", "list")


def test_help_lists_every_verb_with_what_it_does(call_afresh: Call) -> None:
    ended = call_afresh("--help")
    assert (ended.code, ended.err) == (0, "")
    lines = [line.split(maxsplit=1) for line in ended.out.splitlines() if line.startswith("  ")]
    shown = {line[0]: line[1] for line in lines if len(line) > 1}
    for name in VERBS:
        assert len(shown[name]) > 10, name
    places = [ended.out.index(f"\n  {name} ") for name in ORDER if name in VERBS]
    assert places == sorted(places)


def test_every_verb_has_help(call: Call) -> None:
    for name in VERBS:
        ended = call(name, "--help")
        assert (ended.code, ended.err) == (0, ""), name
        assert f"nhalf {name}" in ended.out
        assert load_verb(name).name == name


def test_the_version_is_the_package_s(call_afresh: Call) -> None:
    assert call_afresh("--version").out == f"nhalf {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rnu"], "did you mean run"),
        (["shwo", "x"], "did you mean show"),
        (["zzz"], "known are"),
        (["_group"], "unknown verb"),
        (["../run"], "unknown verb"),
        ([""], "unknown verb"),
        (["--verbose"], "--verbose"),
        (["run", "--patern", "x"], "--patern"),
        (["show"], "no run is named"),
    ],
)
def test_a_wrong_word_is_one_clear_line(call: Call, words: list[str], said: str) -> None:
    call(*words).is_error(2, said)


def test_without_words_there_is_help(call_afresh: Call) -> None:
    ended = call_afresh()
    assert "Verbs" in ended.out + ended.err
    assert "Traceback" not in ended.err


def test_an_unknown_verb_is_an_input_error() -> None:
    with pytest.raises(InputError):
        command_line().main(["nothing"], standalone_mode=False)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_terminal_can_be_written_to(call_afresh: Call, encoding: str) -> None:
    ended = call_afresh("run", "--transport", "nµhalf½", PYTHONIOENCODING=encoding)
    ended.is_error(2, "unknown transport")


@pytest.mark.parametrize("name", ["measure", "bench", "benchmark"])
def test_a_verb_is_understood_by_its_usual_name(call: Callable[..., Any], name: str) -> None:
    assert call(name, "--help").out == call("run", "--help").out
