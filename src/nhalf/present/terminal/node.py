# SPDX-License-Identifier: Apache-2.0
"""A node on a terminal: its caches beside what the system says of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.present.terminal.output import stdout_console
from nhalf.present.terminal.tables import show_table
from nhalf.store.run import Run


def show_node(run: Run, facts: Facts, report: Path | None) -> None:
    """Tables of what was measured, what could not be resolved, and where it is kept."""
    console = stdout_console()
    rows = facts.results.get("caches", [])
    known = {one["level"]: one for one in run.environment.get("announced", [])}
    levels = [row for row in rows if "level" in row]
    titles = ("cache", "size", "line", "ways", "load", "cycles", "a miss costs", "system says")
    show_table(titles, [_cells(row, known.get(row["level"], {})) for row in levels])
    for row in rows:
        for doubt in row.get("doubts", []):
            console.print(f"not resolved: {doubt}", markup=False, style="yellow")
    console.print(f"\nrun     {run.path}", markup=False, soft_wrap=True)
    if report is not None:
        console.print(f"report  {report}", markup=False, soft_wrap=True)


def _cells(row: Row, said: Mapping[str, Any]) -> list[str]:
    words = [
        format_size(said["size_bytes"]) if said.get("size_bytes") else "",
        f"{said['line_bytes']} B" if said.get("line_bytes") else "",
        f"{said['ways']} ways" if said.get("ways") else "",
    ]
    return [
        f"L{row['level']}",
        format_size(row["size_bytes"]) if row["size_bytes"] else "–",
        f"{row['line_bytes']} B" if row["line_bytes"] else "–",
        str(row["ways"] or "–"),
        format_time(row["hit_s"]),
        f"{row['hit_cycles']:.1f}",
        format_time(row["miss_s"]) if row["miss_s"] else "–",
        ", ".join(filter(None, words)) or "nothing",
    ]
