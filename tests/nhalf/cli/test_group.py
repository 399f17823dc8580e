"""The group of verbs: light, complete, and with an answer to every wrong word."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from nhalf.base import plugins
from nhalf.base.errors import InputError
from nhalf.base.version import __version__
from nhalf.cli.group import GROUPS, ORDER, PACKAGE, command_line, load_verb
from nhalf.cli.summaries import group_of

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


@pytest.mark.parametrize(
    "words", [[], ["--help"], ["--version"], ["run", "--help"], ["show", "--sql", "--help"]]
)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    assert heavy_after(*words) == []


def test_help_of_no_verb_imports_what_computes() -> None:
    """Tables and arrays take longer to import than everything else that help does."""
    text = (
        "import sys\nfrom nhalf.cli.group import command_line\n"
        f"for verb in {VERBS!r}:\n"
        "    command_line().main([verb, '--help'], standalone_mode=False)\n"
        "    for name in ('numpy', 'polars', 'scipy', 'altair'):\n"
        "        assert name not in sys.modules, (verb, name)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", text], env=environment, check=True, capture_output=True)


def test_the_test_above_would_see_it() -> None:
    assert "rich" in heavy_after("machines", "list")


def test_help_lists_every_verb_with_what_it_does(call_afresh: Call) -> None:
    ended = call_afresh("--help")
    assert (ended.code, ended.err) == (0, "")
    lines = [line.split(maxsplit=1) for line in ended.out.splitlines() if line.startswith("  ")]
    shown = {line[0]: line[1] for line in lines if len(line) > 1}
    for name in VERBS:
        assert len(shown[name]) > 10, name


def test_verbs_stand_below_the_question_that_they_answer(call_afresh: Call) -> None:
    out = call_afresh("--help").out
    starts = [out.index(f"\n{title}\n") for title in GROUPS.values()]
    assert starts == sorted(starts)
    for group, start, end in zip(GROUPS, starts, [*starts[1:], len(out)], strict=True):
        listed = re.findall(r"^  (\w+) ", out[start:end], re.MULTILINE)
        assert set(listed) == {name for name in VERBS if group_of(name) == group}
        ordered = [name for name in ORDER if name in listed]
        assert listed == [*ordered, *sorted(set(listed) - set(ordered))]


def test_all_verbs_are_seen_at_once() -> None:
    assert len(VERBS) <= 25


def test_every_verb_names_a_group() -> None:
    assert {group_of(name) for name in VERBS} == set(GROUPS)
    assert set(ORDER) <= set(VERBS)


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
        (["compair"], "did you mean compare?"),
        (["mesure"], "did you mean run?"),
        (["plot"], "try nhalf report"),
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


def test_help_and_version_may_be_words(call_afresh: Call) -> None:
    assert call_afresh("help").out == call_afresh("--help").out
    assert call_afresh("help", "fit").out == call_afresh("fit", "--help").out
    assert call_afresh("version").out == call_afresh("--version").out


def test_an_unknown_verb_is_an_input_error() -> None:
    with pytest.raises(InputError):
        command_line().main(["nothing"], standalone_mode=False)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_terminal_can_be_written_to(call_afresh: Call, encoding: str) -> None:
    ended = call_afresh("run", "--transport", "nµhalf½", PYTHONIOENCODING=encoding)
    ended.is_error(2, "unknown transport")
