"""Tables of docs/library-choices.md: what libraries choose in virtual time, and what is best."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from library_choices import FOLDER, PLACES, SIZES, Place
from nhalf.base.units import format_size, format_time
from nhalf.decide.predict import predict
from nhalf.machines import catalogue

NEAR = 0.05
"""A choice that takes so much longer than the best, relative, is as good."""
SAME = 1e-3
"""Two algorithms whose times are nearer than this are taken for one; times are exact."""
TITLES = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}
NATIVE = ""
UNNAMED = ("nb",)
"""Names of what chooses among others itself."""


@dataclass(frozen=True)
class Choice:
    """What a library does in one cell, in seconds, and the fastest of its algorithms."""

    operation: str
    size_bytes: int
    own_s: float
    own: str
    best_s: float
    best: str

    @property
    def loss(self) -> float:
        """How much longer the library's choice takes, relative."""
        return self.own_s / self.best_s - 1

    @property
    def is_near(self) -> bool:
        """Whether the choice is as good as the best."""
        return self.loss <= NEAR

    @property
    def words(self) -> str:
        """The cell of a table."""
        own = f" {self.own}" if self.own else ""
        if self.is_near:
            return f"{format_time(self.own_s)}{own}"
        return f"{format_time(self.own_s)}{own}; **{format_time(self.best_s)} {self.best}**"


def kept(vendor: str, place: Place) -> dict[str, Any] | None:
    """The results of a library on a machine; None if there are none."""
    path = FOLDER / f"{vendor}-{place.name}.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def choices(results: dict[str, Any]) -> Iterator[Choice]:
    """All cells of a library on a machine."""
    for operation, sizes in SIZES.items():
        for size_bytes in sizes:
            times = {
                launch["forced"].get(operation, NATIVE): 1e-6 * time_us
                for launch in results["launches"]
                if (time_us := launch["times_us"].get(operation, {}).get(str(size_bytes)))
            }
            own_s = times.pop(NATIVE)
            best_s = min(times.values())
            own, best = (_first(times, time_s) for time_s in (own_s, best_s))
            yield Choice(operation, size_bytes, own_s, own, best_s, best)


def _first(times: dict[str, float], time_s: float) -> str:
    """The first algorithm that takes this time, '' if there is none.

    Where an algorithm cannot be used, libraries take another one, which they list before.
    """
    same = [name for name, own_s in times.items() if abs(own_s / time_s - 1) < SAME]
    same.sort(key=lambda name: name in UNNAMED)
    return f"`{same[0]}`" if same else ""


def overview() -> str:
    """How often the libraries choose well, and where they lose most."""
    rows = []
    for place in PLACES:
        for vendor, title in TITLES.items():
            results = kept(vendor, place)
            if results is None:
                continue
            cells = list(choices(results))
            near = sum(cell.is_near for cell in cells)
            worst = max(cells, key=lambda cell: cell.loss)
            factor = f"{1 + worst.loss:.1f} times the best: {_cell(worst)}"
            head = [f"`{place.name}`", str(results["ranks"]), title]
            tried = max(len(names) for names in forced(results).values())
            rows.append([*head, f"up to {tried}", f"{near} of {len(cells)}", factor])
    head = ["machine", "ranks", "library", "algorithms tried", "good choices", "largest loss"]
    return table(head, rows)


def forced(results: dict[str, Any]) -> dict[str, set[str]]:
    """The algorithms of each operation that were forced."""
    return {
        operation: {launch["forced"][operation] for launch in results["launches"]
                    if operation in launch["forced"]}
        for operation in SIZES
    }  # fmt: skip


def every_cell() -> str:
    """A table for each machine: what each library takes, and what would be faster."""
    blocks = []
    for place in PLACES:
        found = {vendor: kept(vendor, place) for vendor in TITLES}
        whole = {vendor: results for vendor, results in found.items() if results is not None}
        cells = {vendor: list(choices(results)) for vendor, results in whole.items()}
        rows = [
            [of_cell[0].operation, format_size(of_cell[0].size_bytes) if of_cell[0].size_bytes
             else "–", *(choice.words for choice in of_cell)]
            for of_cell in zip(*cells.values(), strict=True)
        ]  # fmt: skip
        heads = [f"{TITLES[vendor]}, {results['ranks']} ranks" for vendor, results in whole.items()]
        blocks.append(f"### `{place.name}`\n\n" + table(["operation", "size", *heads], rows))
    return "\n\n".join(blocks)


def _cell(choice: Choice) -> str:
    size = f" of {format_size(choice.size_bytes)}" if choice.size_bytes else ""
    return f"{choice.operation}{size}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [" | ".join(row) for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(f"| {line} |" for line in lines)


def studies() -> str:
    """The barriers and broadcasts of old studies, and those of today's libraries there."""
    today = json.loads((FOLDER / "studies.json").read_text("utf-8"))
    rows = []
    for claim in CLAIMS:
        figures = [_ratio(today, claim, vendor) for vendor in TITLES]
        rows.append([claim.words, claim.published, *figures])
    return table(["conclusion", "published", *TITLES.values()], rows)


@dataclass(frozen=True)
class Claim:
    """A ratio of two times that a study concluded from: value over over, with what it holds."""

    words: str
    published: str
    value: tuple[str, str, str, str]
    over: tuple[str, str, str, str]
    holds: Callable[[float], bool]


def _ratio(today: dict[str, Any], claim: Claim, vendor: str) -> str:
    """The ratio of today's library, and whether the conclusion still holds."""
    value, over = (
        today[machine][ranks][vendor][operation][size]
        for machine, ranks, operation, size in (claim.value, claim.over)
    )
    ratio = value / over
    return f"{ratio:.1f}, {'holds' if claim.holds(ratio) else 'does not hold'}"


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "a barrier on the SP2 grows with the logarithm: from 8 to 32 ranks less than twofold",
        "1.7",
        ("sp2-mpl", "32", "barrier", "0"),
        ("sp2-mpl", "8", "barrier", "0"),
        lambda ratio: ratio < 2,
    ),
    Claim(
        "a barrier of 64 on the Altix is much faster than on the PowerEdge cluster",
        "6 times",
        ("poweredge-ib", "64", "barrier", "0"),
        ("altix-bx2", "64", "barrier", "0"),
        lambda ratio: ratio > 1,
    ),
    Claim(
        "and than on the Opteron cluster with Myrinet",
        "13 times",
        ("opteron-myrinet", "64", "barrier", "0"),
        ("altix-bx2", "64", "barrier", "0"),
        lambda ratio: ratio > 1,
    ),
)


def published_times() -> str:
    """What the library of the SP2 took in 1995, and today's take on the same messages."""
    today = json.loads((FOLDER / "studies.json").read_text("utf-8"))["sp2-mpl"]
    machine = catalogue.machine("sp2-mpl")
    rows = []
    for operation, sizes in (("barrier", (0,)), ("bcast", (8, 1024, 16384, 65536))):
        for size_bytes in sizes:
            for ranks in (8, 32):
                predicted = predict(operation, machine, [ranks], [size_bytes], {})
                published_s = float(predicted.time_s[0, 0, 0])
                times = [
                    format_time(1e-6 * today[str(ranks)][vendor][operation][str(size_bytes)])
                    for vendor in TITLES
                ]
                size = format_size(size_bytes) if size_bytes else "–"
                rows.append([operation, size, str(ranks), format_time(published_s), *times])
    return table(["operation", "size", "ranks", "1995", *TITLES.values()], rows)


def files() -> str:
    """The tuning files, what they decide, and what the library takes under them."""
    rows = []
    for place in PLACES:
        for vendor, title in TITLES.items():
            results = kept(vendor, place)
            if results is None or not results.get("file", {}).get("cells"):
                continue
            times = [
                (cell, 1e-6 * results["file"]["times_us"][cell.operation][str(cell.size_bytes)])
                for cell in choices(results)
                if [cell.operation, cell.size_bytes] in results["file"]["cells"]
            ]
            best = min(times, key=lambda pair: pair[1] / pair[0].own_s)
            saved = f"{_cell(best[0])}: {format_time(best[1])} instead of "
            saved += format_time(best[0].own_s)
            name = results["file"]["name"]
            link = f"[`{name}`](library-choices/files/{name})"
            rows.append(
                [f"`{place.name}`", title, link, str(len(times)), saved, _taken_out(results)]
            )
    head = ["machine", "library", "file", "cells", "largest gain, under the file", "taken out"]
    return table(head, rows)


def _taken_out(results: dict[str, Any]) -> str:
    return ", ".join(results["file"]["taken_out"]) or "–"


TABLES: dict[str, Callable[[], str]] = {
    "library-choices-overview": overview,
    "library-choices-cells": every_cell,
    "library-choices-files": files,
    "library-choices-studies": studies,
    "library-choices-1995": published_times,
}
