# SPDX-License-Identifier: Apache-2.0
"""Applications on hosts x ranks: the same number of ranks in several shapes."""

from __future__ import annotations

from nhalf.base.numbers import times
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.applications import applications
from nhalf.facts.facts import Facts
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import kernel_name


class ApplicationShapes(Panel[Facts]):
    title = "Applications: shapes"
    how_to_read = (
        "The time of a kernel on the same number of ranks in several shapes, hosts x ranks on "
        "each, and its ratio to that of the fastest shape."
    )
    order = 83

    def render(self, facts: Facts) -> Table | None:
        cells: dict[tuple[str, str, int], dict[str, Row]] = {}
        for row in applications(facts):
            if row["time_s"] and row["threads"] == 1:
                cell = cells.setdefault((kernel_name(row), row["series"], row["ranks"]), {})
                cell[row["placement"]] = row
        several = {key: cell for key, cell in cells.items() if len(cell) > 1}
        if not several:
            return None
        shapes = sorted({shape for cell in several.values() for shape in cell}, key=_hosts)
        rows = [
            [*map(str, key), *(_text(cell, shape) for shape in shapes)]
            for key, cell in several.items()
        ]
        return Table(["kernel", "run by", "ranks", *shapes], rows)


def _hosts(shape: str) -> tuple[int, str]:
    """Shapes on few hosts come first."""
    first = shape.partition("x")[0]
    return (int(first) if first.isdecimal() else 0, shape)


def _text(cell: dict[str, Row], shape: str) -> str:
    if shape not in cell:
        return "–"
    time_s = cell[shape]["time_s"]
    fastest_s = min(row["time_s"] for row in cell.values())
    return f"{format_time(time_s)} ({times(time_s / fastest_s)})"
