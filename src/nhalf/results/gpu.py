"""What a message of GPU memory pays before it is on the wire: launches, flags and copies."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.models.forms import Curve
from nhalf.models.forms.segmented import Segmented
from nhalf.node.gpu import COPY, FLAG, LAUNCH, PATTERNS, PEER, TRANSPORT, USUAL_MEMORY, WAIT
from nhalf.results import Column, Result
from nhalf.statistics.advice import CLOCK_APART, advice, clocks_text, gpu_clock_of_visit
from nhalf.statistics.state_groups import borders, shares
from nhalf.store.keys import RUN_CURVE, RUN_SUBJECT, parse_axes

SIZES_MIN = 3
SLICES = "on this GPU, in time slices: no network"
WARNINGS = ("busy-gpu", "slow-gpu")
WAITING = {
    "synchronise": "a wait for an empty stream",
    "query": "a query whether a stream is empty",
    "event": "a wait for an event that has come",
}
HOST = {"pinned": "pinned host memory", "host": "pageable host memory", "managed": "managed memory"}


class Gpu(Result):
    """One row per kind of launch, for the flag, and per pair of memories that is copied between."""

    title = "What a message pays before it is on the wire"
    patterns = frozenset(PATTERNS)
    columns = (
        Column("what", "what"),
        Column("host_returns_s", "host returns", format_time),
        Column("device_s", "GPU done", format_time),
        Column("time_s", "host knows", format_time),
        Column("rate_Bps", "rate", format_rate, with_interval=False),
        Column("n_half_bytes", "n½", format_size),
        Column("switches", "switches at", str),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Times in seconds, rates in bytes per second, n½ in bytes.

        `time_s` ends when the host knows that the GPU is done, `host_returns_s` when the call
        returns, `device_s` when the GPU has done it by its own events. Of a copy the times are
        those of the fewest bytes, the rate that of the most; n½ is that of the model's last
        segment, and `switches` are where it jumps (Segmented). `doubts` tell of a GPU clock that
        moved.
        """
        points = summary.filter(pl.col("transport") == TRANSPORT, "verified")
        points = points.filter(pl.col("pattern").is_in(PATTERNS))
        rows: list[Row] = []
        states = _clock_states(measurements)
        for _, curve in points.sort(*RUN_CURVE, "bytes").group_by(RUN_CURVE, maintain_order=True):
            first = curve.row(0, named=True)
            subject = {name: first[name] for name in RUN_SUBJECT}
            axes = parse_axes(first["axes"])
            gpu = axes.pop("gpu", "0")
            has_sizes = first["pattern"] in (COPY, PEER)
            row = _copies(curve, axes) if has_sizes else _calls(first, axes)
            name = row["what"] if gpu == "0" else f"{row['what']}, GPU {gpu}"
            doubts = [*_moved_clocks(curve), *states.pop(first["run"], [])]
            warned = sorted({*curve["advice"].explode(empty_as_null=False)} & {*WARNINGS})
            doubts += [f"{name}: {advice(warning).meaning}" for warning in warned]
            rows.append({**subject, **row, "what": name, "gpu": gpu, "doubts": doubts})
        return sorted(rows, key=lambda row: (row["run"], row["gpu"], row["order"]))

    def sentences(self, row: Row) -> list[str]:
        """Sizes that take longer than larger ones, and what a graph costs before it is of use."""
        graph_s = row.get("instantiated_s")
        graph = f"{row['what']}: making the graph took {format_time(graph_s or 0)}"
        return [graph] * (graph_s is not None) + [
            f"{row['what']}: {format_size(low)} takes {format_time(low_s)}, longer than "
            f"{format_size(high)} with {format_time(high_s)}"
            for low, low_s, high, high_s in row.get("falls", [])
        ]


def _three_times(point: Row) -> Row:
    """When the host returns, the device is done, and the host knows that, in seconds."""
    values = {value["name"]: value["value"] for value in point["values"]}
    return {
        "host_returns_s": values.get("host_returns_s"),
        "device_s": values.get("device_s"),
        "time_s": point["median_s"],
        "time_s_ci": [point["ci_low_s"], point["ci_high_s"]],
        "instantiated_s": values.get("instantiated_s"),
    }


def _calls(point: Row, axes: Mapping[str, str]) -> Row:
    """The row of launches, of a wait or of a flag."""
    pause = f", after {format_time(float(axes['pause_s']))} of nothing" if "pause_s" in axes else ""
    waiting = f", waiting by {axes['wait']}" if "wait" in axes else ""
    kernels = axes.get("kernels", "1")
    launches = "a launch" if kernels == "1" else f"{kernels} launches"
    if axes.get("by") == "graph":
        launches += ", as one graph"
    order, words = {
        LAUNCH: (1 if pause else 0, launches),
        WAIT: (2, WAITING[axes.get("call", "synchronise")]),
        FLAG: (3, "a flag to the GPU and back"),
    }[point["pattern"]]
    return {"order": order, "what": f"{words}{waiting}{pause}", **_three_times(point)}


def _copies(curve: pl.DataFrame, axes: Mapping[str, str]) -> Row:
    sizes, times_s = curve["bytes"].to_numpy(), curve["median_s"].to_numpy()
    least, most = curve.row(0, named=True), curve.row(-1, named=True)
    is_copy = least["pattern"] == COPY
    words = _copy_words(axes) if is_copy else _message_words(axes)
    row: Row = {"order": 4 if is_copy else 5, "what": words, **_three_times(least)}
    row["rate_Bps"] = most["bytes_per_time"] / most["median_s"]
    if most["ci_low_s"] and most["ci_high_s"]:
        row["rate_Bps_ci"] = [
            most["bytes_per_time"] / most[f"ci_{end}_s"] for end in ("high", "low")
        ]
    if sizes.size >= SIZES_MIN and times_s.min() > 0:
        low = np.minimum(curve["ci_low_s"].fill_null(float("nan")).to_numpy(), times_s)
        high = np.maximum(curve["ci_high_s"].fill_null(float("nan")).to_numpy(), times_s)
        launches = np.full((0, sizes.size), np.nan)
        model = Segmented.fit(Curve(sizes.astype(float), times_s, low, high, launches))
        n_half_bytes = model.pieces[-1].n_half_bytes
        row["n_half_bytes"] = n_half_bytes if np.isfinite(n_half_bytes) else None
        jumps = [change for change in model.breaks if change.jump]
        row["switch_bytes"] = [change.at_bytes for change in jumps]
        row["switches"] = ", ".join(format_size(change.at_bytes) for change in jumps) or None
    row["falls"] = [
        (small["bytes"], small["median_s"], large["bytes"], large["median_s"])
        for small, large in pairwise(curve.to_dicts())
        if (small["ci_low_s"] or small["median_s"]) > (large["ci_high_s"] or large["median_s"])
    ]
    return row


def _message_words(axes: Mapping[str, str]) -> str:
    """What messages between processes are: time slices, and no network."""
    partners = int(axes.get("processes", "2")) - 1
    if partners == 1:
        return f"a message between two processes {SLICES}"
    return f"messages from one process to {partners} others at once {SLICES}"


def _copy_words(axes: Mapping[str, str]) -> str:
    """Such as 'a copy from pinned host memory to the GPU'."""
    memory = axes.get("memory", USUAL_MEMORY)
    source, _, target = memory.partition("-")
    further = [f"{name} {text}" for name, text in axes.items() if name != "memory"]
    ends = "a copy within the GPU's memory"
    if target:
        names = [HOST.get(end, "the GPU") for end in (source, target)]
        ends = f"a copy from {names[0]} to {names[1]}"
    elif source != "device":
        ends = f"a copy within {HOST.get(source, source)}"
    elif "-" in axes.get("gpu", ""):
        ends = "a copy from one GPU to another"
    return ", ".join([ends, *further])


def _clock_states(measurements: pl.LazyFrame) -> dict[str, list[str]]:
    """By run: a sentence if visits of several launches met several clocks of the GPU."""
    clocks = (
        measurements.filter(pl.col("transport") == TRANSPORT)
        .select("run", gpu_clock_of_visit().alias("clock_hz"))
        .collect()
    )
    sentences = {}
    for (run,), rows in clocks.group_by("run"):
        states = shares(rows["clock_hz"], borders(rows["clock_hz"], CLOCK_APART))
        if len(states) > 1:
            most = "each time is that of the clock at which most were measured"
            sentences[str(run)] = [f"{clocks_text(states)}: {most}"]
    return sentences


def _moved_clocks(curve: pl.DataFrame) -> list[str]:
    """A sentence if the GPU's clock was not the same for all samples of a curve."""
    clocks = [
        {value["name"]: value["value"] for value in point["values"]}
        for point in curve.iter_rows(named=True)
    ]
    lows = [clock["gpu_clock_p10_hz"] for clock in clocks if clock.get("gpu_clock_p10_hz")]
    highs = [clock["gpu_clock_p90_hz"] for clock in clocks if clock.get("gpu_clock_p90_hz")]
    if not lows or max(highs) <= CLOCK_APART * min(lows):
        return []
    name = curve.row(0, named=True)["pattern"]
    return [
        f"{name}: the GPU's clock moved between {min(lows) / 1e6:.0f} and {max(highs) / 1e6:.0f} "
        "MHz: its times are those of several states"
    ]
