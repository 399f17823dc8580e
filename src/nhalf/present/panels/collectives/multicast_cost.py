# SPDX-License-Identifier: Apache-2.0
"""Processor time and link usage of a multicast to the largest group, by method."""

from __future__ import annotations

import polars as pl

from nhalf.base.numbers import format_number, percent, whole
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.multicast import FORWARDINGS, methods_of, multicasts
from nhalf.present.panels import Panel, Table


class MulticastCost(Panel[Facts]):
    title = "Costs of a multicast besides time"
    how_to_read = (
        "For the largest group and the smallest message: the mean processor time per node, lost "
        "to computing, with its share of the multicast's time, by what makes the copies; and how "
        "evenly links are used: with a concentration of 1 all used links carry the same load, "
        "with 3 one carries three times the mean."
    )
    order = 68

    def render(self, facts: Facts) -> Table | None:
        points = multicasts(facts)
        if points.is_empty():
            return None
        points = points.filter(pl.col("link_visits").is_not_null()).filter(
            pl.col("group") == pl.col("group").max().over("series"),
            pl.col("bytes") == pl.col("bytes").min().over("series"),
        )
        forwardings = [name for name in FORWARDINGS if name in set(points["forwarding"])]
        rows = []
        for (series,), machine in points.group_by("series", maintain_order=True):
            for method in methods_of(machine):
                of_method = machine.filter(pl.col("method") == method)
                cpu = {row["forwarding"]: row for row in of_method.iter_rows(named=True)}
                rows.append([str(series), method, *_cells(of_method.row(0, named=True))])
                rows[-1] += [_processor(cpu[name]) if name in cpu else "–" for name in forwardings]
        columns = ["machine", "way", "destinations", "size", "links", "visits", "concentration"]
        return Table([*columns, *(f"processor, {FORWARDINGS[name]}" for name in forwardings)], rows)


def _processor(row: Row) -> str:
    """'6.86 µs (12 %)': the mean time of a node's processor, and its share of the completion."""
    return f"{format_time(row['host_cpu_s'])} ({percent(row['host_cpu_share'])})"


def _cells(row: Row) -> list[str]:
    """Make the cells that do not depend on whether host or adapter makes the copies."""
    return [
        str(row["group"]),
        format_size(row["bytes"]),
        whole(row["links_used"]),
        whole(row["link_visits"]),
        format_number(row["link_concentration"]),
    ]
