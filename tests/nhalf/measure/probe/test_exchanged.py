"""Parts that are exchanged beneath a program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.measure.probe import exchanged as module
from nhalf.measure.probe.exchanged import barrier_tables, exchange_settings
from nhalf.mpi import Library
from nhalf.mpi.decision_table import FIRST_LINE, choice, read_table
from nhalf.mpi.transport_files import MPI


def test_a_barrier_is_a_table_with_one_rule() -> None:
    (table,) = barrier_tables(["native", "tournament"])
    assert table.stem == "tournament"
    rules = read_table(table)
    assert choice(rules, "barrier", 7, 0) == "tournament"
    assert choice(rules, "bcast", 7, 0) == "native"
    assert barrier_tables(["tournament"]) == [table]


def test_an_unknown_barrier_is_refused_with_those_that_are_close() -> None:
    with pytest.raises(InputError, match="did you mean tournament"):
        barrier_tables(["tournamant"])


def test_every_library_has_the_table_as_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_variables", lambda table, *_: {"TABLE": str(table)})
    one = Library("a", "mpich", "5", Path(), Path(), "hydra", True, None, "wheel")
    libraries = [one, replace(one, name="b")]
    table = tmp_path / "tuned at night.txt"
    table.write_text(f"{FIRST_LINE}\n")
    found = exchange_settings([table], MPI, libraries)
    assert [(one.name, one.only) for one in found] == [
        ("tuned-at-night", "a"), ("tuned-at-night", "b"),
    ]  # fmt: skip
    assert found[0].variables == {"TABLE": str(table)}


def test_tables_of_one_name_and_files_that_are_none_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "one.txt"
    table.write_text("barrier 2 inf 0 inf tournament\n")
    with pytest.raises(InputError, match="no decision table"):
        exchange_settings([table], MPI, [])
    table.write_text(f"{FIRST_LINE}\n")
    with pytest.raises(InputError, match="the same name"):
        exchange_settings([table, table], MPI, [])
