"""The names of the Intel MPI Benchmarks, and of Pallas' before them, as nhalf's patterns.

They are those of the coverage. Some names are of several suites (IMB-MPI1, -EXT, -RMA, -P2P):
letters, the header or the command tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping

from nhalf.exchange.coverage.imb import IMB
from nhalf.exchange.logs.part import slug
from nhalf.exchange.titles import TableIdentity, axes_of

_TESTS = {test.name: test for test in IMB.tests if test.is_covered}
_BY_LETTERS = {name.lower(): name for name in reversed(_TESTS)}
_SUITES: Mapping[str, str] = {
    "MPI-2 part": "EXT",
    "IMB-EXT": "EXT",
    "PMB-EXT": "EXT",
    "IMB-P2P": "P2P",
    "RMA part": "RMA",
    "MPI-RMA": "RMA",
    "IMB-RMA": "RMA",
    "IMB-MT": "MT",
    "MPI-1 part": "MPI1",
    "IMB-MPI1": "MPI1",
    "MPI-NBC": "NBC",
    "IMB-NBC": "NBC",
    "MPI-4 part": "MPI4",
    "IMB-MPI4": "MPI4",
}
_PERSISTENT = ("_persistent", "_persist")
_PAIRS = (
    "PingPong", "PingPongSpecificSource", "PingPing", "PingPingSpecificSource",
    "PingPongAnySource", "PingPingAnySource",
)  # fmt: skip


def suite_of(line: str, current: str) -> str:
    """The part of the suite that a header or a command names; `current` if it names none."""
    return next((suite for mark, suite in _SUITES.items() if mark in line), current)


def identity_of(name: str, suite: str) -> tuple[str, TableIdentity]:
    """The coverage's name of a benchmark, '' if it is not known, and what it measures."""
    test = _test_name(name.removeprefix("Multi-"), suite)
    if test not in _TESTS:
        is_rma = suite in ("EXT", "RMA") or name.startswith("Truly_passive")
        pattern = slug(name.removeprefix("Multi-"))
        return "", TableIdentity(pattern, {}, "rma" if is_rma else "mpi", is_known=False)
    covered = _TESTS[test]
    axes = axes_of(covered.axes)
    # What a table says of these is in it; the time while the ranks compute is another point.
    for axis in ("work", "pairs", "threads"):
        axes.pop(axis, None)
    return test, TableIdentity(covered.pattern, axes, covered.transport)


def _test_name(name: str, suite: str) -> str:
    """The name in the coverage; names of IMB-EXT are those of IMB-RMA with other letters."""
    of_suite = {"P2P": f"{name} (P2P)", "EXT": f"{name} (EXT)", "RMA": name}.get(suite, name)
    if of_suite in _TESTS:
        return of_suite
    if suite == "EXT" and name.title() in _TESTS:
        return name.title()
    return name if name in _TESTS else _persistent(name) or _BY_LETTERS.get(name.lower(), name)


def _persistent(name: str) -> str:
    """The name of a persistent operation in the coverage; '' for others."""
    for ending in _PERSISTENT:
        base, mark, pure = name.partition(ending)
        if mark:
            is_pure = base.endswith("_pure") or "_pure" in pure
            return f"{base.removesuffix('_pure')}{'_pure' if is_pure else ''}_persistent"
    return ""
