"""Windows of every kind hold the right data however they are accessed, and so do neighbours."""

from __future__ import annotations

import pytest

from nhalf.base.errors import NhalfError
from nhalf.measure.plan.axes import combinations
from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import library_subject
from nhalf.mpi.discover import libraries
from nhalf.mpi.transport_files import transport_files
from nhalf.sites.placement import FREE
from tests.patience import patience_s

FOUND = [one for one in libraries() if one.vendor == "mpich" and one.abi]
WINDOWS = {"window": "allocate,create,dynamic,shared", "ways": "one,both", "operations": "1,4"}
ACCESSES = {"access": "flush,flush-local,lock,lock-all,fence,pscw"}
WHO = {"who": "all-to-all,one-to-all,neighbours"}
GRIDS = {"topology": "cartesian,graph", "extent": "1,2,3"}


def installed() -> bool:
    try:
        return "rma" in transport_files()
    except NhalfError:
        return False


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOUND, reason="no MPICH here: nhalf mpi install mpich"),
    pytest.mark.skipif(not installed(), reason="the sources of the probes are not installed"),
]


def wrong(transport: str, needs: str, ranks: int, axes: dict[str, str]) -> list[str]:
    """The points of the patterns that need this which do not verify, with what is said of them."""
    subject = library_subject(FOUND[0], transport_files()[transport])
    asked = [
        f"pattern={info.name} bytes={size} verify_only=1 "
        + " ".join(f"axis.{part}" for part in text.split(",") if part)
        for info in subject.infos.values()
        if info.present and info.needs.startswith(needs)
        for text in combinations(info.axes, axes, ranks)
        for size in info.sizes((5008,))
    ]
    assert len(asked) > 10
    found = []
    with Probe(*subject.launch(ranks, FREE, ""), patience_s(30)) as probe:
        for number, question in enumerate(asked):
            probe.send(f"id={number} {question}")
            answer = probe.receive(patience_s(30), identity=str(number))
            if not answer.get("verified"):
                found.append(f"{question}: {answer.get('message', 'wrong data')}")
    return found


@pytest.mark.parametrize("axes", [WINDOWS, ACCESSES | WHO], ids=["windows", "accesses"])
def test_windows_of_every_kind_and_accesses_of_every_kind(axes: dict[str, str]) -> None:
    assert wrong("rma", "windows", 2, axes) == []


def test_neighbours_on_grids_and_by_lists() -> None:
    assert wrong("mpi", "neighbourhoods", 3, GRIDS) == []


@pytest.mark.full
@pytest.mark.parametrize("ranks", [3, 5, 8])
def test_more_ranks(ranks: int) -> None:
    assert wrong("rma", "windows", ranks, ACCESSES | WHO) == []
    assert wrong("mpi", "neighbourhoods", ranks, GRIDS) == []
