"""Every figure that was published of a machine of record is in its file, and means the same there.

published_points.py has the points by what they mean, test_records.py the curves and formulas;
published.toml has all numbers of a study, so that none is forgotten. Where the notes that they
are from lie beside this repository, they are read as well, number by number.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nhalf.machines import catalogue
from nhalf.machines.machine import PublishedPoint
from tests.nhalf.machines.published_points import MBPS, RATIO, US, Figure, all_points
from tests.nhalf.machines.recorded import NAMES

PUBLISHED: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "published.toml").read_text(encoding="utf-8")
)
SCALES = {"us": 1e-6, "ms": 1e-3, "MBps": 1e6, "B": 1.0}
NOTES = Path(__file__).parents[4] / "shared" / "reference" / "machines.md"
NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(e[+-]?\d+)?")


def written(name: str) -> str:
    return (catalogue.FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def values(part: Any) -> Iterator[float]:
    """All numbers of a record that are no text."""
    if isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from values(each)
    elif isinstance(part, int | float):
        yield abs(part)


def has(found: Iterable[float], wanted: float) -> bool:
    return any(math.isclose(each, wanted, rel_tol=1e-6) for each in found)


def in_words(text: str) -> set[float]:
    """The numbers that stand in a text, with and without what they are multiplied with."""
    numbers = [(float(found[1]), float(found[0])) for found in NUMBER.finditer(text)]
    return {number for pair in numbers for number in pair}


def is_recorded(name: str, unit: str, wanted: float) -> bool:
    """Whether a record has a figure in that unit; a rate may stand as the time of a byte."""
    found = set(values(tomllib.loads(written(name))))
    if unit not in SCALES:
        return has(found | in_words(written(name)), wanted)
    scaled = wanted * SCALES[unit]
    # A range ends before the size at which the next one begins.
    return has(found, scaled) or has(found, 1 / scaled) or (unit == "B" and scaled - 1 in found)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_every_published_figure_is_in_the_record(name: str) -> None:
    lists = {of: each for of, each in PUBLISHED[name].items() if of != "source"}
    missing = [
        (of, wanted)
        for of, each in lists.items()
        for wanted in each
        if not is_recorded(name, of.rpartition("_")[2], wanted)
        # The time of a byte, of this many partners: 0.1 us for (p-1)/10.
        and not has(values(tomllib.loads(written(name))), 1 / (wanted * 1e6))
    ]
    assert missing == []


def test_every_machine_of_record_has_published_figures() -> None:
    assert set(PUBLISHED) == set(NAMES)


def test_a_figure_that_is_in_no_record_is_noticed() -> None:
    assert is_recorded("altix-bx2", "MBps", 1762)
    assert not is_recorded("altix-bx2", "MBps", 1763)
    assert not is_recorded("altix-bx2", "us", 1762)


def figures_of(machine: str, point: PublishedPoint) -> Iterator[Figure]:
    for unit, value, scale in (
        (US, point.time_s, 1e-6),
        (MBPS, point.rate_Bps, 1e6),
        (RATIO, point.ratio, 1),
    ):
        if value is not None:
            where = (point.ranks, point.size_bytes, point.placement, point.axes)
            yield (machine, point.pattern, *where, unit), value / scale


def in_order(figures: Iterable[Figure]) -> list[tuple[str, float]]:
    return sorted((str(meaning), float(f"{value:.6g}")) for meaning, value in figures)


def test_every_point_means_what_was_published() -> None:
    recorded = [
        figure
        for name in NAMES
        for point in catalogue.machine(name).points
        for figure in figures_of(name, point)
    ]
    assert in_order(recorded) == in_order(all_points())


HEADINGS = {
    "IBM SP1, MPL": ("sp1-mpl",),
    "IBM SP2, MPL": ("sp2-mpl",),
    "IBM SP2, IP": ("sp2-ip",),
    "IBM SP2, PVMe": ("sp2-pvme",),
    "Convex": ("spp1000-pvm",),
    "POWER2 node": ("sp2-mpl",),
    "Sun Fire Link": ("sunfire-link",),
    "Myrinet cluster": ("myrinet-gm",),
    "Dell PowerEdge 6650": ("poweredge-6650", "sunfire-15k"),
    "Others named": ("myrinet-gm",),
    "SGI Altix": ("altix-bx2",),
    "Cray X1": ("x1-ssp", "x1-msp"),
    "Cray Opteron": ("opteron-myrinet",),
    "Dell PowerEdge 1850": ("poweredge-ib",),
    "All four": ("altix-bx2", "x1-ssp", "x1-msp", "opteron-myrinet", "poweredge-ib"),
    "Pentium Pro": ("pentiumpro-ethernet",),
    "SCI": ("sci-torus",),
    "Gigabit Ethernet": ("gige-pair",),
}
"""What a section of the notes begins with, and whose it is."""


def sections(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        names = [machines for start, machines in HEADINGS.items() if part.startswith(start)]
        assert names, part[:40]
        # Names of processors and protocols, and powers and chapters of the text, are no figures.
        yield names[-1], re.sub(r"\(Ab ch\. \d+\)|p\^[23]|log2|\(\d\)|217\.\.|i bytes", " ", part)


def test_the_notes_themselves_are_in_the_records() -> None:
    if not NOTES.is_file():
        pytest.skip("the notes from which published.toml is are not beside this repository")
    missing = []
    for machines, text in sections(NOTES.read_text(encoding="utf-8")):
        found = {number for name in machines for number in in_words(written(name))}
        scaled = {n / k for n in found for k in (1, 1e3, 1e6, 1e9, 1024, 2**20)}
        scaled |= {n + 1 for n in found} | {1 - n for n in found}
        missing += [(machines[0], n) for n in sorted(in_words(text)) if not has(scaled, n)]
    assert missing == []
