# SPDX-License-Identifier: Apache-2.0
"""Patterns that only MPI libraries can run verify their data there, on several numbers of ranks."""

from __future__ import annotations

import functools

import pytest

from nhalf.base import native_files
from nhalf.base.errors import NhalfError
from nhalf.measure.plan.axes import combinations
from nhalf.measure.probe.pattern import PatternInfo
from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import Subject, library_subject, plain_subject
from nhalf.mpi.discover import libraries
from nhalf.mpi.transport_files import transport_files

SIZES = (0, 5008)
FOUND = [one for one in libraries() if one.vendor == "mpich" and one.abi]


def built() -> bool:
    try:
        return bool(native_files.executable("probe-mpi-abi"))
    except NhalfError:
        return False


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOUND, reason="no MPICH here: nhalf mpi install mpich"),
    pytest.mark.skipif(not built(), reason="the probes are not built"),
]


@functools.cache
def subject(transport: str) -> Subject:
    return library_subject(FOUND[0], transport_files()[transport])


def only_there(transport: str) -> list[PatternInfo]:
    """Those that the model machine lacks, for which the conformance tests do not know them."""
    elsewhere = plain_subject("model").infos
    infos = subject(transport).infos.values()
    return [info for info in infos if info.present and not elsewhere[info.name].present]


def points(info: PatternInfo, ranks: int, axes: dict[str, str], every_axis: bool) -> list[str]:
    """Lines of a pattern's points, each once verified and timed twice."""
    effort = "slice_s=1e-4 samples_min=1 samples_max=2"
    texts = combinations(info.axes, axes, ranks)
    return [
        f"pattern={info.name} bytes={size} {effort} "
        + " ".join(f"axis.{part}" for part in text.split(",") if part)
        for text in (texts if every_axis else texts[:1])
        for size in info.sizes(SIZES if every_axis else SIZES[-1:])
    ]


def failures(transport: str, ranks: int, axes: dict[str, str], every_axis: bool) -> list[str]:
    """The points that are wrong, with what the probe says about them.

    Where axes are given, of patterns that have one of them and belong to the transport.
    """
    options = "threads=1" if transport == "mpi" else ""
    command, environment = subject(transport).launch(ranks, "free", options)
    wrong = []
    with Probe(command, environment, 60) as probe:
        for info in only_there(transport):
            if ranks < info.ranks_min or (axes and info.needs != "windows" and transport == "rma"):
                continue
            for number, line in enumerate(points(info, ranks, axes, every_axis)):
                identity = f"{info.name}-{number}"
                probe.send(f"id={identity} {line}")
                answer = probe.receive(60, identity=identity)
                if not answer.get("verified") or not answer.get("samples_s"):
                    wrong.append(f"{line}: {answer.get('message', 'wrong data')}")
    return wrong


WINDOWS = {"window": "allocate,create,dynamic,shared", "ways": "one,both", "operations": "1,4"}
ACCESSES = {"access": "flush,flush-local,lock,lock-all,fence,pscw"}
WHO = {"who": "all-to-all,one-to-all,neighbours"}


@pytest.mark.parametrize(("transport", "count"), [("mpi", 40), ("rma", 8)])
def test_two_ranks_at_every_value_of_the_axes(transport: str, count: int) -> None:
    assert len(only_there(transport)) >= count
    assert failures(transport, 2, {"topology": "cartesian,graph"}, every_axis=True) == []


@pytest.mark.parametrize("axes", [WINDOWS, ACCESSES | WHO], ids=["windows", "accesses"])
def test_windows_of_every_kind_and_accesses_of_every_kind(axes: dict[str, str]) -> None:
    assert failures("rma", 2, axes, every_axis=True) == []


@pytest.mark.parametrize("transport", ["mpi", "rma"])
def test_three_ranks(transport: str) -> None:
    assert failures(transport, 3, {}, every_axis=False) == []


@pytest.mark.full
@pytest.mark.parametrize("transport", ["mpi", "rma"])
@pytest.mark.parametrize("ranks", [4, 5, 8])
def test_more_ranks(ranks: int, transport: str) -> None:
    assert failures(transport, ranks, ACCESSES | WHO, every_axis=transport == "rma") == []
