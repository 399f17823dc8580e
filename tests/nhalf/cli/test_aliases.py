"""Verbs by the names that they had, and by those of other tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base import plugins
from nhalf.cli.group import FORMER, PACKAGE, USUAL, current, load_verb

Call = Callable[..., Any]


@pytest.mark.parametrize("name", USUAL)
def test_the_name_of_another_tool_is_understood_without_a_word(call: Call, name: str) -> None:
    ended = call(name, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == call(*USUAL[name], "--help").out


@pytest.mark.parametrize("name", FORMER)
def test_a_former_verb_is_the_present_form_and_names_it(call: Call, name: str) -> None:
    former, present = call(name, "--help"), call(*FORMER[name], "--help")
    assert (former.code, former.out) == (0, present.out)
    assert former.err == f"nhalf: the verb {name} is now: nhalf {' '.join(FORMER[name])}\n"
    assert present.err == ""


def test_a_former_verb_prints_the_same_json(call: Call, keep: Callable[..., str]) -> None:
    query, run = "select bytes from points order by bytes", keep("monday")
    former, present = call("sql", "--json", query, run), call("show", "--sql", query, run, "--json")
    assert json.loads(former.out)["schema"] == "sql/1"
    assert (former.out, former.err.count("\n")) == (present.out, 1)


def test_a_former_verb_has_the_same_options_and_exit_codes(call: Call, tmp_path: Path) -> None:
    assert call("ledger", "--ledger", tmp_path / "none").code == 3
    assert call("selftest", "--runs", "1").code == 2
    assert call("sql").code == 2


def test_no_other_name_hides_a_verb() -> None:
    verbs = plugins.names(PACKAGE)
    assert not {*USUAL, *FORMER} & set(verbs)
    for verb, *options in [*USUAL.values(), *FORMER.values()]:
        forms = {option for parameter in load_verb(verb).params for option in parameter.opts}
        assert {option for option in options if option.startswith("-")} <= forms


def test_no_hint_while_a_line_is_completed(capsys: pytest.CaptureFixture[str]) -> None:
    assert current(["sql", "select 1"], is_silent=True) == ["show", "--sql", "select 1"]
    assert capsys.readouterr().err == ""
