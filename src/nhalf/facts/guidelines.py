"""Which performance guidelines a library violates: operations that its other operations outdo.

Every guideline is tested at every size that a run has both sides of. The datum is the
logarithm of the operation's time over that of its mock-up in the same launch, so that what disturbs
a launch as a whole cancels. One-sided tests against `TOLERANCE` hold together at 2.5 %
(statistics/many_tests.py): a run without a violation has one in at most as many cases.

An operation that takes longer than other operations of the same library which do its work (its
mock-up) gains by being replaced by them: J. L. Träff, W. Gropp, R. Thakur, Self-consistent MPI
performance requirements, IEEE TPDS 21(5), 2010; S. Hunold, A. Carpen-Amarie, Tuning MPI collectives
by verifying performance guidelines, HPC Asia 2018. Sizes are nhalf's: of the message (bcast), the
vector (reduce, allreduce, reduce-scatter, scan) or one block (all others).
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.operations import COLLECTIVES
from nhalf.facts.causes import caches
from nhalf.facts.collectives import standard
from nhalf.facts.contests import with_cores
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.statistics.intervals import Floats, Interval
from nhalf.statistics.many_tests import holm, one_sided
from nhalf.statistics.summary import VIRTUAL

Size = Callable[[int, int], int]
"""The size of a part in bytes, from that of the operation and the number of ranks."""


@dataclass(frozen=True)
class MockUpCall:
    """An operation of a mock-up: the least size of its messages, and how often it is called."""

    pattern: str
    size_bytes: Size
    calls: int = 1


@dataclass(frozen=True)
class MockUp:
    """What does the work of an operation; `algorithms` of libraries that do the same, by name.

    These are candidates where a library violates the guideline, across all libraries.
    """

    operation: str
    parts: tuple[MockUpCall, ...]
    algorithms: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Its parts as a sum: 'reduce + bcast'."""
        return " + ".join(part.pattern for part in self.parts)


SAME, BLOCK, ALL_BLOCKS = (
    lambda size_bytes, _: size_bytes,
    lambda size_bytes, ranks: -(-size_bytes // ranks),
    lambda size_bytes, ranks: size_bytes * ranks,
)
"""The sizes of parts."""

MOCK_UPS = (
    MockUp("allreduce", (MockUpCall("reduce", SAME), MockUpCall("bcast", SAME)),
           ("reduce-bcast", "nonoverlapping")),
    MockUp("allreduce", (MockUpCall("reduce-scatter", SAME), MockUpCall("allgather", BLOCK)),
           ("rabenseifner", "reduce_scatter_allgather", "ring")),
    MockUp("reduce", (MockUpCall("allreduce", SAME),)),
    MockUp("reduce", (MockUpCall("reduce-scatter", SAME), MockUpCall("gather", BLOCK)),
           ("rabenseifner", "reduce_scatter_gather")),
    MockUp("reduce-scatter", (MockUpCall("allreduce", SAME),)),
    MockUp("reduce-scatter", (MockUpCall("reduce", SAME), MockUpCall("scatter", BLOCK)),
           ("basic_linear",)),
    MockUp("bcast", (MockUpCall("scatter", BLOCK), MockUpCall("allgather", BLOCK)),
           ("scatter-allgather", "scatter_allgather", "scatter_allgather_ring",
            "scatter_recursive_doubling_allgather", "scatter_ring_allgather")),
    MockUp("scatter", (MockUpCall("bcast", ALL_BLOCKS),)),
    MockUp("gather", (MockUpCall("allgather", SAME),)),
    MockUp("allgather", (MockUpCall("gather", SAME), MockUpCall("bcast", ALL_BLOCKS)),
           ("linear",)),
    MockUp("allgather", (MockUpCall("alltoall", SAME),)),
    MockUp("barrier", (MockUpCall("allreduce", SAME),)),
    *(
        MockUp(regular, (MockUpCall(irregular, SAME),))
        for regular, irregular in (
            ("gather", "gatherv"), ("scatter", "scatterv"), ("allgather", "allgatherv"),
            ("alltoall", "alltoallv"), ("alltoallv", "alltoallw"),
            ("reduce-scatter", "reduce-scatterv"),
        )
    ),
)  # fmt: skip
"""The mock-ups by other operations; those with counts per rank have equal ones."""


def longer(operation: str, next_bytes: int) -> MockUp:
    """The operation itself with a longer message: times may not fall with the size."""
    return MockUp(operation, (MockUpCall(operation, lambda *_: next_bytes),))


def pieces(operation: str, piece_bytes: int, calls: int) -> MockUp:
    """The operation itself several times, each with a piece of the message."""
    return MockUp(operation, (MockUpCall(operation, lambda *_: piece_bytes, calls),), SEGMENTED)


SEGMENTED = ("pipeline", "segmented_ring", "chain", "binomial-pipelined", "binary-pipelined",
             "pipelined_tree")  # fmt: skip
"""Algorithms that cut messages."""


ALL_TO_ALL = ("alltoall", "alltoallv", "alltoallw")
"""Their size is that for each pair of ranks, in either buffer."""
GATHERED = ("gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv")
"""Their size is that of each rank; one buffer has all of them."""
OF_A_CORE = ("L1", "L2")
"""Levels that each core has for itself; others hold the buffers of all ranks."""
MEMORY = "memory"
SURELY_HELD_BYTES = 2**14
"""Buffers that the first level of every processor of today holds."""


def buffers_bytes(pattern: str, size_bytes: int, ranks: int) -> int:
    """The bytes that one rank of an operation reads or writes in its buffers."""
    if pattern in ALL_TO_ALL:
        return 2 * size_bytes * ranks
    if pattern in GATHERED:
        return size_bytes * (ranks + 1)
    return 2 * size_bytes


def level_of(environment: Mapping[str, Any], pattern: str, size_bytes: int, ranks: int) -> str:
    """The smallest cache that holds the buffers, 'L2', or 'memory'; '' if that is not known.

    All ranks are taken to share the last level.
    """
    levels = caches(environment)
    own_bytes = buffers_bytes(pattern, size_bytes, ranks)
    for cache in levels:
        shared = 1 if cache.name in OF_A_CORE else ranks
        if own_bytes * shared <= cache.size_bytes:
            return cache.name
    if not levels and own_bytes <= SURELY_HELD_BYTES:
        return "L1"
    return MEMORY if levels else ""


def size_words(pattern: str) -> str:
    """What the size of an operation counts, in words: ' per pair', ' per rank' or ''."""
    if pattern.removeprefix("neighbor-") in ALL_TO_ALL:
        return " per pair"
    return " per rank" if pattern.removeprefix("neighbor-") in GATHERED else ""


TOLERANCE = 1.05
"""An operation may take so much longer than its mock-up, as a ratio."""
FLOAT_BYTES = 4
REACH = 2
"""A part's message may be longer than needed by less than this factor, where sizes are few."""
SETTING = ("run", "transport", "mpi", "ranks", "placement")

LaunchTimes = Mapping[int, float]
"""The median of each launch, seconds."""
Curves = Mapping[str, Mapping[int, LaunchTimes]]
"""The launches of each pattern and size in bytes."""


@dataclass(frozen=True)
class Verdict:
    """One guideline at one size: how many times longer the operation takes than its mock-up.

    `sizes_bytes` are those of the mock-up's parts. `factor` has a 95 % interval, which has no width
    where time is virtual. `is_violated` takes into account how many guidelines were tested.
    `may_be_cache`: a cache holds the buffers of the mock-up's calls, which were measured on the
    same buffers again and again, but not those of the operation.
    """

    run: str
    transport: str
    mpi: str
    ranks: int
    placement: str
    mock_up: MockUp
    size_bytes: int
    sizes_bytes: tuple[int, ...]
    factor: Interval
    is_violated: bool
    may_be_cache: bool = False

    def as_json(self) -> dict[str, Any]:
        """The verdict for scripts; parts are patterns with sizes, and how often each is called."""
        parts = zip(self.mock_up.parts, self.sizes_bytes, strict=True)
        return {
            "kind": self.kind,
            **{name: getattr(self, name) for name in SETTING},
            "operation": self.mock_up.operation,
            "bytes": self.size_bytes,
            "mock_up": [
                {"pattern": part.pattern, "bytes": size, "calls": part.calls}
                for part, size in parts
            ],
            "factor": self.factor.median,
            "ci": [self.factor.low, self.factor.high],
            "may_be_cache": self.may_be_cache,
        }

    @property
    def kind(self) -> str:
        """'composition' of other operations, 'monotony' or 'pieces' of the operation itself."""
        (first, *_) = self.mock_up.parts
        if first.pattern != self.mock_up.operation:
            return "composition"
        return "monotony" if first.calls == 1 else "pieces"


@dataclass(frozen=True)
class _Test:
    """A guideline at one size, with a logarithm per launch."""

    setting: tuple[str, str, str, int, str]
    mock_up: MockUp
    size_bytes: int
    sizes_bytes: tuple[int, ...]
    log_ratio: Floats


@fact
def guidelines(facts: Facts) -> tuple[Verdict, ...]:
    """The verdict of every guideline that the data can test, as the data has them."""
    exact = _is_exact(facts)
    tests = [test for test in _tests(facts) if exact or len(test.log_ratio) > 1]
    if not tests:
        return ()
    least = math.log(TOLERANCE)
    mean, reach, chance = one_sided([test.log_ratio for test in tests], least)
    if exact:
        reach, chance = np.zeros(len(tests)), np.where(mean > least, 0.0, 1.0)
    outcomes = zip(tests, mean, reach, holm(chance.tolist()), strict=True)
    return tuple(
        Verdict(
            *test.setting,
            test.mock_up,
            test.size_bytes,
            test.sizes_bytes,
            Interval(*(math.exp(end) for end in (centre, centre - width, centre + width))),
            is_violated,
            _may_be_cache(facts, test),
        )
        for test, centre, width, is_violated in outcomes
    )


def _may_be_cache(facts: Facts, test: _Test) -> bool:
    """Whether the operation in pieces has warmer buffers than the operation as a whole."""
    (first, *further) = test.mock_up.parts
    operation = test.mock_up.operation
    run, _, _, ranks, _ = test.setting
    if further or first.pattern != operation or first.calls == 1 or _is_exact(facts):
        return False
    environment = facts.environments.get(run, {})
    whole, piece = (
        level_of(environment, operation, size, ranks)
        for size in (test.size_bytes, test.sizes_bytes[0])
    )
    return whole != piece or not whole


@fact
def violations(facts: Facts) -> tuple[Verdict, ...]:
    """The violated guidelines, the largest factor first."""
    violated = [verdict for verdict in guidelines(facts) if verdict.is_violated]
    return tuple(sorted(violated, key=lambda verdict: -verdict.factor.median))


@fact
def worst_by_guideline(facts: Facts) -> tuple[tuple[Verdict, int], ...]:
    """The largest factor of each violated guideline of a library, and the number of points."""
    groups: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in violations(facts):
        about = (verdict.mock_up.operation, verdict.mock_up.words, verdict.kind)
        groups.setdefault((verdict.run, verdict.transport, verdict.mpi, *about), []).append(verdict)
    return tuple((verdicts[0], len(verdicts)) for verdicts in groups.values())


@fact
def _is_exact(facts: Facts) -> bool:
    """Whether time is virtual, where one launch is as good as many."""
    advice = facts.summary["advice"]
    return not advice.is_empty() and bool(advice.list.contains(VIRTUAL).all())


@fact
def _tests(facts: Facts) -> Iterator[_Test]:
    points = with_cores(standard(facts.launches), facts).filter(pl.col("median_s") > 0)
    for setting, frame in points.group_by(SETTING, maintain_order=True):
        run, transport, mpi, ranks, placement = setting
        about = (str(run), str(transport), str(mpi), int(ranks), str(placement))
        curves: dict[str, dict[int, dict[int, float]]] = {}
        columns = ("pattern", "bytes", "launch", "median_s")
        for pattern, size_bytes, launch, time_s in frame.select(columns).iter_rows():
            curves.setdefault(pattern, {}).setdefault(size_bytes, {})[launch] = time_s
        for mock_up, size_bytes in _asked(curves):
            sizes = _sizes(curves, mock_up, size_bytes, about[3])
            log_ratio = _log_ratios(curves, mock_up, size_bytes, sizes) if sizes else np.empty(0)
            if len(log_ratio):
                yield _Test(about, mock_up, size_bytes, sizes, log_ratio)


def _asked(curves: Curves) -> Iterator[tuple[MockUp, int]]:
    """Every mock-up, and the operation's own sizes, at each size."""
    for operation in (name for name in COLLECTIVES if name in curves):
        sizes = sorted(curves[operation])
        for mock_up in (mock_up for mock_up in MOCK_UPS if mock_up.operation == operation):
            yield from ((mock_up, size_bytes) for size_bytes in sizes)
        for size_bytes, next_bytes in itertools.pairwise(sizes):
            if size_bytes > 0:
                yield longer(operation, next_bytes), size_bytes
                yield pieces(operation, size_bytes, -(-next_bytes // size_bytes)), next_bytes


def _sizes(curves: Curves, mock_up: MockUp, size_bytes: int, ranks: int) -> tuple[int, ...]:
    """The measured sizes of the parts: the least that suffice; none if they are far longer."""
    sizes = []
    own_bytes = _moved_bytes(mock_up.operation, size_bytes, ranks)
    for part in mock_up.parts:
        needed_bytes = part.size_bytes(own_bytes, ranks)
        enough = [
            size
            for size in curves.get(part.pattern, ())
            if _moved_bytes(part.pattern, size, ranks) >= needed_bytes
        ]
        least = min(enough, default=None)
        if least is None or 0 < REACH * needed_bytes <= least:
            return ()
        sizes.append(least)
    return tuple(sizes)


def _moved_bytes(pattern: str, size_bytes: int, ranks: int) -> int:
    """What a pattern of this size really sums: every rank gets as many floats."""
    if pattern not in ("reduce-scatter", "reduce-scatterv"):
        return size_bytes
    return -(-size_bytes // FLOAT_BYTES // ranks) * ranks * FLOAT_BYTES


def _log_ratios(
    curves: Curves, mock_up: MockUp, size_bytes: int, sizes_bytes: Sequence[int]
) -> Floats:
    """The logarithm of the operation's time over its mock-up's, per launch that has both."""
    own = curves[mock_up.operation][size_bytes]
    parts = [
        (part.calls, curves[part.pattern][size])
        for part, size in zip(mock_up.parts, sizes_bytes, strict=True)
    ]
    launches = sorted(set(own).intersection(*(times for _, times in parts)))
    return np.array(
        [
            math.log(own[launch] / sum(calls * times[launch] for calls, times in parts))
            for launch in launches
        ]
    )
