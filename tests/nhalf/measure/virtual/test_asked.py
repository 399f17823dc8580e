"""A library that is asked on a machine: its answers predict programs that it runs there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.measure.virtual.subject import AskedLibrary, Question
from nhalf.mpi.discover import libraries
from tests.nhalf.measure.virtual.programs import built, library_of, tried
from tests.nhalf.measure.virtual.test_traced import traced

Call = Callable[..., Any]
CLOSE = 0.1
ORIGIN = "altix-bx2"
PROGRAMS = ("train", "overlap", "shard", "transpose", "centre")
QUESTION = Question("allreduce", 1024)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder in which nothing is kept yet but what was compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "nhalf" / "asked"


@pytest.mark.parametrize(
    ("name", "vendor", "machine", "ranks"),
    [
        pytest.param("centre", "mpich", "myrinet-gm", 8, marks=pytest.mark.slow),
        pytest.param("overlap", "mpich", "altix-bx2", 8, marks=pytest.mark.full),
        *(
            pytest.param(name, vendor, machine, ranks, marks=pytest.mark.full)
            for name in PROGRAMS
            for vendor in ("mpich", "openmpi")
            for machine, ranks in (("altix-bx2", 32), ("poweredge-ib", 8), ("myrinet-gm", 5))
        ),
    ],
)
def test_a_program_takes_what_the_library_answers(
    name: str,
    vendor: str,
    machine: str,
    ranks: int,
    programs: Path,
    tmp_path: Path,
    call: Call,
) -> None:
    traced(ORIGIN, "mpich", ranks, tmp_path / name, built("mpich", "large", programs), name)
    words = ("predict", tmp_path / name, "--machine", machine, "--mpi", library_of(vendor).name)
    # As fast as here, as in the trial.
    ended = call(*words, "--computing-factor", "1", "--json")
    assert ended.code == 0, ended.err
    predicted = json.loads(ended.out)
    program = built(vendor, "large", programs)
    there = tried(machine, vendor, ranks, program, name, options="--json")
    virtual_s = msgspec.json.decode(there.stdout)["virtual_s"]
    assert predicted["time_s"] == pytest.approx(virtual_s, rel=CLOSE)
    assert predicted["low_s"] <= virtual_s <= predicted["high_s"]
    assert all(row["is_asked"] for row in predicted["algorithms"])
    assert predicted["not_asked"] == []


def asked(**setting: int) -> AskedLibrary:
    """A library on the network of a machine; with limit_s=0 it answers nothing any more."""
    messages = Messages(catalogue.machine(ORIGIN))
    return AskedLibrary(messages, library_of("mpich"), libraries(), **setting)


def test_answers_are_kept_for_each_placement_and_setting(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = asked().times_s((0, 1, 2, 3), [QUESTION, Question("no-pattern", 8)])
    assert list(apart) == [QUESTION]
    assert asked(limit_s=0).times_s((0, 1, 2, 3), [QUESTION]) == apart
    assert asked(limit_s=0).times_s((0, 0, 1, 1), [QUESTION]) == {}
    monkeypatch.setenv("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "ring")
    assert asked(limit_s=0).times_s((0, 1, 2, 3), [QUESTION]) == {}
    assert asked().times_s((0, 1, 2, 3), [QUESTION])[QUESTION][0] > 1.1 * apart[QUESTION][0]


def test_a_broadcast_is_asked_with_its_root_and_when_each_rank_leaves_it(folder: Path) -> None:
    """MPICH's goes down a binomial tree, which turns with the root."""
    first, other, none = (Question(f"bcast axis.root={root}", 1024) for root in (0, 3, 4))
    times_s = asked().times_s((0, 1, 2, 3), [first, other, none])
    assert list(times_s) == [first, other], "there is no rank 4"
    from_first_s, from_other_s = times_s[first][1:], times_s[other][1:]
    turned = [from_other_s[(3 + rank) % 4] for rank in range(4)]
    assert turned == pytest.approx(from_first_s, rel=0.01)
    assert from_first_s != pytest.approx(from_other_s, rel=0.01)


@pytest.mark.parametrize("text", ["", "[", '[["allreduce",1024]]', "{}"])
def test_a_damaged_file_of_answers_counts_as_none(folder: Path, text: str) -> None:
    asked(limit_s=0).times_s((0, 1), [QUESTION])
    (path,) = folder.iterdir()
    path.write_text(text)
    assert asked(limit_s=0).times_s((0, 1), [QUESTION]) == {}
