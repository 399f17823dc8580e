"""Machines of record since 2010: tables as curves and points, and where every number is from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import InputError
from nhalf.machines import catalogue
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import read, write
from nhalf.machines.published_times import published_times
from nhalf.store.keys import parse_axes

CLASSIC = catalogue.of_studies()
MODERN = sorted(set(catalogue.names()) - set(CLASSIC))
HEAD = 'schema = 1\nname = "m"\nsources = ["a report"]\n'
TABLE = """
[[tables]]
pattern = "pingpong"
placement = "other-node"
source = 1
where = "table 2"
read = "A"
"""


@cache
def content(name: str) -> dict[str, Any]:
    return tomllib.loads(catalogue.path_of(name).read_text(encoding="utf-8"))


def of_text(folder: Path, text: str) -> Machine:
    path = folder / "m.toml"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_there_are_enough_machines_of_today() -> None:
    assert len(CLASSIC) == 17
    assert len(MODERN) >= 16
    assert {catalogue.machine(name).year for name in MODERN} >= {2012, 2016, 2020, 2025}


def test_a_table_of_messages_is_the_curve_through_its_points(tmp_path: Path) -> None:
    columns = "size_bytes = [0, 8, 64, 1024]\ntime_s = [2e-6, 2e-6, 1.5e-6, 3e-6]\n"
    (curve,) = of_text(tmp_path, HEAD + TABLE + columns).models
    published = {0: 2e-6, 8: 2e-6, 64: 1.5e-6, 1024: 3e-6}
    assert {size: curve.time_s(size) for size in curve.end_bytes} == pytest.approx(published)
    # Straight between two sizes, and as long as the shorter message where a longer one is faster.
    assert curve.time_s(544) == pytest.approx(2.25e-6)
    assert curve.time_s(63) == pytest.approx(2e-6)
    assert curve.source == "[1] table 2 (A)"
    with pytest.raises(InputError, match="says nothing of 1025 B") as raised:
        curve.time_s(1025)
    assert raised.value.remedy == "take a size in 0 to 1024"


def test_a_last_size_that_is_faster_is_a_point_of_its_own(tmp_path: Path) -> None:
    columns = "size_bytes = [1, 2, 4]\ntime_s = [2e-6, 3e-6, 2e-6]\n"
    (curve,) = of_text(tmp_path, HEAD + TABLE + columns).models
    assert [curve.time_s(size) for size in (1, 2, 3, 4)] == pytest.approx([2e-6, 3e-6, 3e-6, 2e-6])
    assert curve.end_bytes == [1, 2, 4]


def test_other_tables_are_points_with_their_source(tmp_path: Path) -> None:
    columns = 'axes = "memory=gpu"\nsize_bytes = [8, 64]\nrate_Bps = [1e6, 2e6]\n'
    machine = of_text(tmp_path, HEAD + TABLE + columns)
    assert machine.models == ()
    assert [(point.size_bytes, point.rate_Bps) for point in machine.points] == [(8, 1e6), (64, 2e6)]
    assert {point.source for point in machine.points} == {"[1] table 2 (A)"}
    write(machine, tmp_path / "again.toml")
    assert read(tmp_path / "again.toml") == machine


def test_a_single_figure_needs_no_size(tmp_path: Path) -> None:
    machine = of_text(tmp_path, HEAD + TABLE + "time_s = [1e-6]\n")
    assert [(point.size_bytes, point.time_s) for point in machine.points] == [(None, 1e-6)]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("size_bytes = [8, 64]\ntime_s = [1e-6]\n", "not one value for each size"),
        ("size_bytes = [8]\n", "either time_s or rate_Bps"),
        ("size_bytes = [8]\ntime_s = [1e-6]\nrate_Bps = [1e6]\n", "either time_s or rate_Bps"),
        ("size_bytes = [64, 8]\ntime_s = [1e-6, 2e-6]\n", "do not rise"),
        ("size_bytes = [8, 8]\ntime_s = [1e-6, 2e-6]\n", "do not rise"),
        ("size_bytes = []\ntime_s = []\n", "length >= 1"),
        ("size_bytes = [8]\ntime_s = [inf]\n", "not finite"),
        ("size_bytes = [8]\ntime_s = [nan]\n", "not finite|> 0"),
        ("size_bytes = [8]\ntime_s = [0.0]\n", "> 0"),
        ("size_bytes = [-8]\ntime_s = [1e-6]\n", ">= 0"),
        ('size_bytes = [8]\ntime_s = [1e-6]\nread = "X"\n', "m.toml"),
    ],
)
def test_a_table_that_cannot_be_is_refused(tmp_path: Path, columns: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        of_text(tmp_path, HEAD + TABLE.replace('read = "A"\n', "") * ("read" in columns)
                + TABLE * ("read" not in columns) + columns)  # fmt: skip
    assert "\n" not in raised.value.message


def test_a_source_that_is_not_named_is_refused(tmp_path: Path) -> None:
    text = HEAD + TABLE.replace("source = 1", "source = 2") + "time_s = [1e-6]\n"
    with pytest.raises(InputError, match="names source 2"):
        of_text(tmp_path, text)


@pytest.mark.parametrize("name", MODERN)
def test_every_number_of_a_record_has_its_source(name: str) -> None:
    record = content(name)
    texts = " ".join([*record["assumptions"], *record["environment"].values()])
    assert len(record["sources"]) == len(set(record["sources"]))
    for table in record["tables"]:
        assert 1 <= table["source"] <= len(record["sources"])
        assert table["where"]
        assert table["read"] in set("ABCDEP")
    for resource in record.get("shared", ()):
        assert re.search(r"\[\d+\] .*\([ABCDEP]\)|\(E\)", resource["why"], re.DOTALL), name
    for parameters in record.get("loggp", ()):
        assert re.search(r"^\[\d+\] .*\([ABCDEP]\)$", parameters["source"], re.DOTALL)
    rate_Bps = record["network"].get("bandwidth_Bps")
    assert rate_Bps is None or f"{rate_Bps / 1e9:g} GB/s" in texts
    ranks, nodes = record["node"]["ranks"], record["network"]["topology"]["nodes"]
    assert re.search(rf"\b{ranks}\b", texts) or (ranks == 1 and "one rank" in texts)
    assert not nodes or re.search(rf"\b{nodes}\b", texts)
    members = {"schema", "year", "tables", "shared", "loggp", "node", "network"}
    assert not list(numbers({key: part for key, part in record.items() if key not in members}))


def numbers(part: Any) -> Iterator[float]:
    """All numbers of a part of a file that are no text."""
    if isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from numbers(each)
    elif isinstance(part, int | float):
        yield part


@pytest.mark.parametrize("name", MODERN)
def test_a_record_tells_what_is_unknown_and_has_one_library(name: str) -> None:
    machine = catalogue.machine(name)
    assert machine.unknown
    assert machine.assumptions
    assert any("overheads" in words for words in machine.unknown)
    assert len({curve.mpi for curve in machine.models}) == 1
    cells = [(p.pattern, p.ranks, p.size_bytes, p.placement, p.axes) for p in machine.points]
    assert len(cells) == len(set(cells)), "two figures of one quantity: an axis tells them apart"
    assert all(parse_axes(point.axes) or not point.axes for point in machine.points)


def test_conflicting_figures_are_both_kept() -> None:
    latencies = {
        point.time_s
        for point in catalogue.machine("piz-daint").points
        if (point.pattern, point.size_bytes) == ("pingpong", 8)
    }
    assert latencies >= {1.09e-6, 1.192e-6, 1.3e-6, 1.61e-6}


def test_times_of_a_layout_are_of_no_other_placement() -> None:
    machine = catalogue.machine("csd3-hdr100")
    assert published_times(machine, "allreduce") == []
    (times,) = published_times(machine, "allreduce", "2x32")
    assert times.at_s(64, 8) == pytest.approx(5.17e-6)
