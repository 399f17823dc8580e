"""Which installed libraries the names of a plan stand for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from nhalf.measure.plan.plan import Plan
from nhalf.measure.probe.libraries import choices_in_words, libraries_of
from nhalf.mpi import discover


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
