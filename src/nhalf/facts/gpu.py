"""The GPU of a machine file, from what `nhalf node --gpu` measured."""

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.machines.gpu import GpuCopy, GpuPart
from nhalf.node.gpu import COPY, FLAG, LAUNCH, TRANSPORT, USUAL_MEMORY, WAIT
from nhalf.store.keys import parse_axes


@fact
def gpu_part(facts: Facts) -> GpuPart | None:
    """What the first GPU of the first run takes; None if none was measured.

    Points of which data arrived wrong are left out.
    """
    points = facts.summary.filter(pl.col("transport") == TRANSPORT, "verified")
    if points.is_empty():
        return None
    run = points["run"][0]
    points = points.filter(pl.col("run") == run)
    plain = {
        row["pattern"]: row
        for row in points.filter(pl.col("axes") == "").iter_rows(named=True)
        if row["pattern"] != COPY
    }
    values = {value["name"]: value["value"] for value in plain.get(LAUNCH, {}).get("values", ())}
    times_s = {pattern: row["median_s"] for pattern, row in plain.items()}
    return GpuPart(
        name=facts.environments[run].get("gpu", ""),
        source=f"measured by nhalf, run {run}",
        launch_s=times_s.get(LAUNCH),
        launch_returns_s=values.get("host_returns_s"),
        wait_s=times_s.get(WAIT),
        flag_s=times_s.get(FLAG),
        copies=tuple(_copies(points.filter(pl.col("pattern") == COPY))),
    )


def _copies(points: pl.DataFrame) -> list[GpuCopy]:
    copies = []
    for (axes,), curve in points.sort("bytes").group_by("axes", maintain_order=True):
        values = parse_axes(str(axes))
        least, most = curve.row(0, named=True), curve.row(-1, named=True)
        if set(values) <= {"memory"} and most["median_s"] > 0:
            copies.append(
                GpuCopy(
                    memory=values.get("memory", USUAL_MEMORY),
                    latency_s=least["median_s"],
                    rate_Bps=most["bytes_per_time"] / most["median_s"],
                )
            )
    return copies
