"""What `nhalf tune` tells of the library's own word on the file's variables."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from nhalf.experiment.tune.outcome import Tuned
from nhalf.experiment.tune.search import SearchResult
from nhalf.facts.reported import witness
from nhalf.present.terminal.tune import show_tuned

BENCH: Any = SimpleNamespace(
    library=SimpleNamespace(name="lib-1", title="Lib 1"),
    folder=Path("runs/tune"), notes=[], machine=None, criterion="completion",
)  # fmt: skip


@pytest.mark.parametrize(
    ("reported", "verdict", "words"),
    [
        ({"file": "a.rules", "on": "1"}, "taken", "itself reports file and on as set (MPI_T)"),
        ({"on": "1"}, "in part", "reports on as set (MPI_T); of file it does not say"),
        ({"file": "b.rules"}, "not taken", "b.rules for file (MPI_T): it did not take effect"),
        ({}, "silent", "does not say whether it took the file's variables (MPI_T)"),
    ],
)
def test_what_the_library_itself_says_of_the_file_is_told(
    reported: dict[str, str], verdict: str, words: str
) -> None:
    setting = witness({"file": "a.rules", "on": "true"}, reported)
    tuned = Tuned(SearchResult({}, {}, {}, []), [], None, {}, None, [], [], witness=setting)
    told = Console(record=True, width=160, file=io.StringIO())
    show_tuned(told, BENCH, tuned)
    assert words in told.export_text()
    assert tuned.as_json()["witness"]["verdict"] == verdict


@pytest.mark.parametrize(
    ("cells", "undecided", "words"),
    [
        (
            1,
            1,
            "Lib 1: nothing is decided; no file is written\nnot decided within the time: 1 of 1 ",
        ),
        (
            2,
            1,
            "than its own choice, in 2 cells; no file is written\nnot decided within the time: ",
        ),
        (1, 0, "than its own choice, in 1 cell; no file is written\n"),
        (0, 0, "than its own choice, in 0 cells; no file is written\n"),
    ],
)
def test_what_is_undecided_is_not_called_a_tie(cells: int, undecided: int, words: str) -> None:
    screening: Any = {number: None for number in range(cells)}
    result = SearchResult(screening, {}, {}, [*screening][:undecided])
    told = Console(record=True, width=160, file=io.StringIO())
    show_tuned(told, BENCH, Tuned(result, [], None, {}, None, [], []))
    assert words in told.export_text()
