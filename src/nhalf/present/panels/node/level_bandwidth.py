# SPDX-License-Identifier: Apache-2.0
"""The rate of STREAM's kernels in each level of a node's memory, by cores."""

from __future__ import annotations

import altair as alt

from nhalf.base.rows import Row
from nhalf.base.units import format_rate
from nhalf.facts.facts import Facts
from nhalf.node.bandwidth import KERNELS
from nhalf.present.charts import common
from nhalf.present.charts.lines import count_axis, lines
from nhalf.present.panels import Panel
from nhalf.results import Column


class LevelBandwidth(Panel[Facts]):
    title = "Bandwidth of each level"
    how_to_read = (
        "Bytes per second that all cores together read and write with arrays in one level, counted "
        "as STREAM does: private levels grow with the cores, and memory until it is saturated."
    )
    order = 78
    patterns = tuple(f"memory-{kernel}" for kernel in KERNELS)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [row for stream in facts.results.get("stream", []) for row in _rows(stream)]
        if not rows:
            return None
        return lines(
            rows,
            (
                count_axis("cores", "cores", [row["cores"] for row in rows], doubling=True),
                common.log_axis("rate", "rate of all cores", rows, common.RATE_LABEL),
            ),
            kinds=list(dict.fromkeys(row["kind"] for row in rows)),
            facets=("kernel", KERNELS),
            tooltip=[
                alt.Tooltip("kernel:N", title="kernel"),
                alt.Tooltip("kind:N", title="arrays in"),
                alt.Tooltip("cores:Q", title="cores"),
                alt.Tooltip("words:N", title="rate of all"),
                alt.Tooltip("mark:N", title="doubt"),
            ],
        )


def _rows(stream: Row) -> list[Row]:
    rates = {kernel: stream.get(f"{kernel}_Bps") for kernel in KERNELS}
    return [
        {
            "kind": stream["level"],
            "kernel": kernel,
            "cores": stream["ranks"],
            "rate": common.digits(rate_Bps),
            "words": Column(f"{kernel}_Bps", kernel, format_rate).cell(stream),
            "mark": stream["marks"].get(kernel, "none"),
        }
        for kernel, rate_Bps in rates.items()
        if rate_Bps
    ]
