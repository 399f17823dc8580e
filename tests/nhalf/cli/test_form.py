"""Forms of verbs: where the option stands does not matter, and help names them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from nhalf.cli.engines import FormOption

Call = Callable[..., Any]
FORM = FormOption("show", "--sql", "sql")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["--sql", "Q", "run"], ["Q", "run"]),
        (["run", "--sql", "Q"], ["Q", "run"]),
        (["run", "--json", "--sql", "Q", "two"], ["Q", "two", "run", "--json"]),
        (["run", "--sql=Q"], ["Q", "run"]),
        (["--sql"], []),
        (["run", "Q"], None),
        (["run", "--", "--sql"], None),
        ([], None),
    ],
)
def test_what_follows_the_option_comes_first(typed: list[str], words: list[str] | None) -> None:
    assert FORM.words_after(typed) == words


def test_the_run_may_stand_before_the_option(call: Call, keep: Callable[..., str]) -> None:
    query, run = "select count(*) from points", keep("monday")
    rows = [
        json.loads(call("show", *words, "--json").out)["rows"]
        for words in (("--sql", query, run), (run, "--sql", query), (run, f"--sql={query}"))
    ]
    assert rows == [[[4]]] * 3


def test_the_help_of_the_verb_names_its_forms(call: Call) -> None:
    out = " ".join(call("show", "--help").out.split())
    assert "--sql QUERY [RUN...] Query runs with SQL" in out
    assert "Its options: nhalf show --sql --help" in out
    own = call("show", "--sql", "--help").out
    assert own.startswith("Usage: nhalf show --sql [OPTIONS] QUERY [RUN...]")
    assert "--tolerance" not in own


def test_options_of_the_verb_do_not_go_with_a_form(call: Call) -> None:
    call("show", "--tolerance", "--sql", "select 1").is_error(2, "--tolerance")
