"""What SMPI sets up in its first broadcast takes neither messages nor part in a result."""

from __future__ import annotations

import msgspec
import pytest

from nhalf.machines import catalogue
from nhalf.measure.simulate import subject
from tests.nhalf.measure.simulate.conftest import Ask

LINES = [
    *(f"pattern=bcast bytes={size}" for size in (8, 10_000, 200_000)),
    "pattern=reduce bytes=64",
    "pattern=allreduce bytes=8192",
    "pattern=allgather bytes=64",
]


@pytest.mark.parametrize("ranks", [2, 5, 16])
def test_results_are_those_that_SMPI_has_with_its_own_set_up(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, ranks: int
) -> None:
    # Without our library SMPI takes each host for a node: here each node is one. Its broadcast has
    # messages too many where the hosts are not two to a power, as ours has not.
    machine = msgspec.structs.replace(catalogue.machine("sunfire-link"), node=None, shared=())
    found = ask(machine, LINES, ranks)
    monkeypatch.setattr(subject, "preloaded_plugin", lambda: "")
    own = ask(machine, LINES, ranks)
    for ours, theirs in zip(found, own, strict=True):
        assert ours["samples_s"] == pytest.approx(theirs["samples_s"], rel=1e-9)


def test_the_first_broadcast_of_1024_ranks_sends_what_the_second_does(ask: Ask) -> None:
    first, second = ask(catalogue.machine("altix-bx2"), ["pattern=bcast bytes=8"] * 2, 1024)
    assert first["samples_s"] == pytest.approx(second["samples_s"], rel=1e-9)


@pytest.mark.parametrize("ranks", [30, 32])
def test_broadcasts_in_which_sends_wait_come_to_an_end(ask: Ask, ranks: int) -> None:
    machine = catalogue.machine("sunfire-link")
    (found,) = ask(machine, ["pattern=bcast bytes=262144"], ranks)
    # From node to node, then within each of them to 15 or 16 ranks.
    assert found["samples_s"][0] > 5 * 262144 / 660e6
