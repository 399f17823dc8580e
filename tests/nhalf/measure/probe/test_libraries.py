"""Which installed libraries the names of a plan stand for.

Parts that are exchanged beneath a program.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from nhalf.base.errors import InputError
from nhalf.measure.plan.plan import Plan
from nhalf.measure.probe import libraries as module
from nhalf.measure.probe.libraries import (
    barrier_tables,
    choices_in_words,
    exchange_settings,
    libraries_of,
)
from nhalf.mpi import Library, discover
from nhalf.mpi.decision_table import FIRST_LINE, choice, read_table
from nhalf.mpi.transport_files import MPI


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two versions of Open MPI, and one version of MPICH in two places."""
    names = ("mpich-5.0.2", "mpich-5.0.2-path", "openmpi-4.1.4", "openmpi-5.0.11")
    found = [SimpleNamespace(name=name, version=name.split("-")[1]) for name in names]
    monkeypatch.setattr(discover, "libraries", lambda prefixes: found)


def plan(*names: str) -> Plan:
    return Plan(
        transports=["mpi"], mpi=list(names), blocks=[], launches=1, budget_s=0.0, precision=0.01,
        options="", seed=1, timeout_s=60.0, mpi_prefixes=[str(Path("/a"))],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["openmpi"], ["openmpi-5.0.11"]),
        (["openmpi-4", "mpich"], ["openmpi-4.1.4", "mpich-5.0.2"]),
        (["openmpi-5", "openmpi"], ["openmpi-5.0.11"]),
    ],
)
def test_a_short_name_is_the_newest_version(names: list[str], chosen: list[str]) -> None:
    assert [library.name for library in libraries_of(plan(*names))] == chosen


def test_a_choice_among_versions_is_said() -> None:
    assert choices_in_words(plan("openmpi")) == [
        "openmpi is openmpi-5.0.11; to measure other versions as well: "
        "--mpi openmpi-5.0.11,openmpi-4.1.4"
    ]


@pytest.mark.parametrize(
    "names", [["mpich"], ["openmpi-5"], ["openmpi-4.1.4"], ["openmpi", "openmpi-4"], ["all"], []]
)
def test_where_no_version_is_left_out_nothing_is_said(names: list[str]) -> None:
    assert choices_in_words(plan(*names)) == []


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
