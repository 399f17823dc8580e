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

SIZES = (0, 16, 5008)
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
def subject() -> Subject:
    return library_subject(FOUND[0])


def only_there() -> list[PatternInfo]:
    """Those that the model machine lacks, for which the conformance tests do not know them."""
    elsewhere = plain_subject("model").infos
    infos = subject().infos.values()
    return [info for info in infos if info.present and not elsewhere[info.name].present]


def points(info: PatternInfo, ranks: int, every_axis: bool) -> list[str]:
    """Lines of a pattern's points, each once verified and timed twice."""
    effort = "slice_s=1e-4 samples_min=1 samples_max=2"
    texts = combinations(info.axes, {}, ranks)
    return [
        f"pattern={info.name} bytes={size} {effort} "
        + " ".join(f"axis.{part}" for part in axes.split(",") if part)
        for axes in (texts if every_axis else texts[:1])
        for size in info.sizes(SIZES if every_axis else SIZES[-1:])
    ]


def failures(ranks: int, every_axis: bool) -> list[str]:
    """The points that are wrong, with what the probe says about them."""
    command, environment = subject().launch(ranks, "free", "")
    wrong = []
    with Probe(command, environment, 60) as probe:
        for info in only_there():
            if ranks < info.ranks_min:
                continue
            for number, line in enumerate(points(info, ranks, every_axis)):
                identity = f"{info.name}-{number}"
                probe.send(f"id={identity} {line}")
                answer = probe.receive(60, identity=identity)
                if not answer.get("verified") or not answer.get("samples_s"):
                    wrong.append(f"{line}: {answer.get('message', 'wrong data')}")
    return wrong


def test_two_ranks_at_every_value_of_the_axes() -> None:
    assert len(only_there()) > 25
    assert failures(2, every_axis=True) == []


def test_three_ranks() -> None:
    assert failures(3, every_axis=False) == []


@pytest.mark.full
@pytest.mark.parametrize("ranks", [4, 5, 8])
def test_more_ranks(ranks: int) -> None:
    assert failures(ranks, every_axis=False) == []
