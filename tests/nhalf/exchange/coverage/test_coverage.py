"""The tables of what other suites measure say what there is."""

from __future__ import annotations

import msgspec
import pytest

from nhalf.base import native_files
from nhalf.base.native_files import describe
from nhalf.base.plugins import load
from nhalf.base.rows import Row
from nhalf.exchange.coverage import SUITES
from nhalf.exchange.coverage.suite import WITH_MEMORY
from nhalf.exchange.coverage.suite import Test as Entry
from nhalf.exchange.styles import Style
from nhalf.measure.plan.axes import check_axes
from nhalf.measure.probe.pattern import PatternInfo
from nhalf.measure.probe.subject import library_subject, transport_file, transports
from nhalf.mpi.discover import libraries, newest
from tests.probes import is_built

LIBRARIES = [library for library in newest(libraries()) if library.abi]
ENTRIES = [(suite.name, entry) for suite in SUITES for entry in suite.tests]


def infos() -> dict[str, PatternInfo]:
    """The patterns that there are; every probe lists those that it lacks, too."""
    patterns = describe([str(native_files.executable("probe-model"))])["patterns"]
    return {info.name: info for info in msgspec.convert(patterns, list[PatternInfo])}


def test_an_entry_has_a_pattern_with_these_axes_or_a_reason() -> None:
    info_by_name, styles = infos(), load("nhalf.exchange.styles", Style)
    for suite, entry in ENTRIES:
        check_entry(entry, styles[suite](), info_by_name)


def check_entry(entry: Entry, style: Style, info_by_name: dict[str, PatternInfo]) -> None:
    """An entry that is covered has a pattern, axes and a transport that there are."""
    if not entry.is_covered:
        assert not entry.pattern, entry
        assert entry.name not in style.benchmarks, entry
        return
    info = info_by_name[entry.pattern]
    axes = dict(part.split("=") for part in entry.axes.split(",") if part)
    check_axes(axes, [info.axes])
    # A point does not name what an axis has by itself, and its row would have no table.
    assert axes.items().isdisjoint({(axis.name, axis.fallback) for axis in info.axes}), entry
    assert style.pattern(entry.name) == entry.pattern, entry
    assert entry.transport in transports(), entry


def test_patterns_said_to_take_gpu_memory_are_those_with_the_axis() -> None:
    for transport in WITH_MEMORY:
        if not (LIBRARIES and is_built(f"probe-{transport}-abi")):
            pytest.skip("the probes, or a library for them, are not here")
        described = library_subject(LIBRARIES[0], transport_file(transport)).description["patterns"]
        with_axis = {
            pattern["name"]
            for pattern in described
            if any(axis["name"] == "memory" for axis in pattern["axes"])
        }
        entries = [
            entry for _, entry in ENTRIES if entry.is_covered and entry.transport == transport
        ]
        marked = {entry.pattern for entry in entries if entry.takes_gpu_memory}
        assert marked == {entry.pattern for entry in entries} & with_axis


def test_no_test_is_there_twice() -> None:
    for suite in SUITES:
        names = [entry.name for entry in suite.tests]
        assert len(names) == len(set(names))


def test_every_covered_test_has_a_table() -> None:
    for name, style in load("nhalf.exchange.styles", Style).items():
        row: Row = {"bytes": 8, "ranks": 2, "repetitions": 9, "median_s": 1e-6, "bytes_per_time": 8}
        row |= {"batch": 1, "rank_s": None, "values": None, "pattern": "", "axes": ""}
        for benchmark in style.benchmarks:
            text = "\n".join(style().table(benchmark, [row]))
            assert len(text.splitlines()) > 3, (name, benchmark)
