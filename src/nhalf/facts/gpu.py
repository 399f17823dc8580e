"""GPUs: what `nhalf node --gpu` measured, and the path by which messages leave their memory."""

from dataclasses import dataclass

import msgspec
import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.machines.computing import GpuCopy, GpuPart
from nhalf.measure.loop.device_trial import GPU_PATHS
from nhalf.mpi.ucx_paths import UcxPath
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
            memory = values.get("memory", USUAL_MEMORY)
            rate_Bps = most["bytes_per_time"] / most["median_s"]
            copies.append(GpuCopy(memory=memory, latency_s=least["median_s"], rate_Bps=rate_Bps))
    return copies


SUBJECT = ("run", "transport", "mpi")
BYTES_LEAST = 1 << 20
"""The rate of shorter messages tells only their latency."""
NEAR = 0.15
"""Staging is named where a rate is as near to that of both copies, one after the other."""
STAGED, FASTER = "staged", "faster"


@dataclass(frozen=True)
class SaidPaths:
    """What UCX said of a subject of a run, each path once."""

    run: str
    subject: str
    paths: tuple[UcxPath, ...]


@dataclass(frozen=True)
class Slope:
    """The rate of the longest messages beside that of copies out of and into GPU memory, B/s.

    `staged_Bps` is that of both copies one after the other. `verdict` is STAGED where the rate is
    near to it, FASTER where no copy through the host is as fast, and '' where the rate fits both.
    """

    subject: Row
    size_bytes: int
    rate_Bps: float
    staged_Bps: float
    verdict: str


@fact
def said_paths(facts: Facts) -> list[SaidPaths]:
    """The paths that UCX printed in the extra launch that tried GPU memory, by run and subject."""
    paths_by_subject: dict[tuple[str, str], dict[UcxPath, None]] = {}
    for run, event in facts.find_events(GPU_PATHS):
        paths = msgspec.convert(event["paths"], list[UcxPath])
        paths_by_subject.setdefault((run, event["subject"]), {}).update(dict.fromkeys(paths))
    return [SaidPaths(*key, tuple(paths)) for key, paths in paths_by_subject.items()]


@fact
def slopes(facts: Facts) -> list[Slope]:
    """What rates of ping-pongs between two GPUs' memories tell, where copies were measured too.

    Ranks that share a GPU, whose times hold time slices, are left out.
    """
    points = facts.summary.filter("verified")
    out_Bps = _copy_Bps(points, "device-pinned")
    in_Bps = _copy_Bps(points, "")
    messages = points.filter(
        pl.col("pattern") == "pingpong",
        pl.col("axes") == "memory=device",
        pl.col("bytes") >= BYTES_LEAST,
        ~pl.col("advice").list.contains("shared-gpu"),
    )
    if out_Bps is None or in_Bps is None:
        return []
    staged_Bps = 1 / (1 / out_Bps + 1 / in_Bps)
    judged = []
    for _, curve in messages.sort("bytes").group_by(SUBJECT, maintain_order=True):
        last = curve.row(-1, named=True)
        rate_Bps = last["bytes_per_time"] / last["median_s"]
        verdict = ""
        if abs(rate_Bps / staged_Bps - 1) <= NEAR:
            verdict = STAGED
        elif rate_Bps > (1 + NEAR) * min(out_Bps, in_Bps):
            verdict = FASTER
        subject = {name: last[name] for name in SUBJECT}
        judged.append(Slope(subject, last["bytes"], rate_Bps, staged_Bps, verdict))
    return judged


def _copy_Bps(points: pl.DataFrame, memory: str) -> float | None:
    """The rate of the largest copy between pinned memory and a GPU; None if none was measured."""
    copies = points.filter(pl.col("pattern") == COPY, pl.col("bytes") >= BYTES_LEAST)
    rows = [
        row
        for row in copies.sort("bytes").iter_rows(named=True)
        if parse_axes(row["axes"]).get("memory", "") == memory
    ]
    return rows[-1]["bytes_per_time"] / rows[-1]["median_s"] if rows else None
