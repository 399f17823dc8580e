"""What a message of GPU memory pays before it is on the wire, as a table of a report."""

import math
from collections.abc import Iterator

from nhalf.base.listing import ranks_text
from nhalf.base.rows import Row
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.nccl import nccl_phases
from nhalf.node.gpu import PATTERNS
from nhalf.present.charts.curves import some_sizes
from nhalf.present.panels import Panel, Table
from nhalf.results.gpu import SLICES, Gpu

SIZES_SHOWN = 4
"""Sizes of each operation of NCCL that are shown, the first and the last among them."""


class GpuCosts(Panel[Facts]):
    title = Gpu.title
    how_to_read = (
        "A message from GPU memory waits for a launch or a flag, and is copied where the network "
        "does not reach that memory; times end when the call returns, when the GPU is done and "
        "when the host knows it, of copies those of the fewest bytes and the rate of the most; "
        "processes on one GPU take turns, which is no network; an operation of NCCL is that of "
        "rank 0, on the GPU between two events."
    )
    order = 69
    patterns = PATTERNS

    def render(self, facts: Facts) -> Table | None:
        rows = [*facts.results.get("gpu", []), *_nccl_rows(facts)]
        columns = {
            column.title: column.cell
            for column in Gpu.columns
            if any(row.get(column.name) is not None for row in rows)
        }
        return Table.of(rows, columns)


def _nccl_rows(facts: Facts) -> Iterator[Row]:
    """Operations of NCCL at some of their sizes, with the columns of `Gpu`."""
    for curve in nccl_phases(facts):
        shown = some_sizes([times.size_bytes for times in curve.times], SIZES_SHOWN)
        where = f"{ranks_text(curve.ranks)}{', ' + SLICES if curve.in_slices else ''}"
        for times in curve.times:
            if times.size_bytes not in shown:
                continue
            over = {
                "host_returns_s": times.host_returns,
                "device_s": times.device_done,
                "time_s": times.host_knows,
            }
            size = format_size(times.size_bytes)
            yield {
                "what": f"{curve.series}: {curve.name} of {size}, {where}",
                **{name: interval.median for name, interval in over.items()},
                **{
                    f"{name}_ci": (interval.low, interval.high)
                    for name, interval in over.items()
                    if math.isfinite(interval.half_width)
                },
            }
