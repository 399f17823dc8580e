"""What a message of GPU memory pays before it is on the wire: launches, flags and copies."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.models.forms import Curve
from nhalf.models.forms.segmented import Segmented
from nhalf.node.gpu import COPY, FLAG, PATTERNS, PEER, TRANSPORT, USUAL_MEMORY
from nhalf.results import Column, Result
from nhalf.store.keys import RUN_CURVE, RUN_SUBJECT, parse_axes

MOVED = 1.05
"""A clock whose tenth and ninetieth percentile lie further apart changed its state."""
SIZES_MIN = 3
SLICES = "a message between two processes on this GPU, in time slices: no network"
HOST = {"pinned": "pinned host memory", "host": "pageable host memory", "managed": "managed memory"}


class Gpu(Result):
    """One row per kind of launch, for the flag, and per pair of memories that is copied between."""

    title = "What a message pays before it is on the wire"
    patterns = frozenset(PATTERNS)
    columns = (
        Column("what", "what"),
        Column("time_s", "time", format_time),
        Column("rate_Bps", "rate", format_rate),
        Column("n_half_bytes", "n½", format_size),
        Column("switches", "switches at", str),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """Times in seconds, rates in bytes per second, n½ in bytes.

        Of a copy the time is that of the fewest bytes, the rate that of the most, both with their
        intervals; n½ is that of the model's last segment, and `switches` are where it jumps
        (Segmented). `doubts` tell of a GPU clock that moved.
        """
        points = summary.filter(pl.col("transport") == TRANSPORT, "verified")
        points = points.filter(pl.col("pattern").is_in(PATTERNS))
        rows: list[Row] = []
        for _, curve in points.sort(*RUN_CURVE, "bytes").group_by(RUN_CURVE, maintain_order=True):
            first = curve.row(0, named=True)
            subject = {name: first[name] for name in RUN_SUBJECT}
            axes = parse_axes(first["axes"])
            gpu = axes.pop("gpu", "0")
            has_sizes = first["pattern"] in (COPY, PEER)
            of_curve = _copies(curve, axes) if has_sizes else _calls(first, axes)
            doubts = _moved_clocks(curve)
            for row in of_curve:
                name = row["what"] if gpu == "0" else f"{row['what']}, GPU {gpu}"
                rows.append({**subject, **row, "what": name, "gpu": gpu, "doubts": doubts})
                doubts = []
        return sorted(rows, key=lambda row: (row["run"], row["gpu"], row["order"]))

    def sentences(self, row: Row) -> list[str]:
        """Sizes that take longer than larger ones."""
        return [
            f"{row['what']}: {format_size(low)} takes {format_time(low_s)}, longer than "
            f"{format_size(high)} with {format_time(high_s)}"
            for low, low_s, high, high_s in row.get("falls", [])
        ]


def _calls(point: Row, axes: Mapping[str, str]) -> Iterator[Row]:
    """The rows of a launch, with the times at which the host returns and the device is done."""
    time = {"time_s": point["median_s"], "time_s_ci": [point["ci_low_s"], point["ci_high_s"]]}
    if point["pattern"] == FLAG:
        yield {"order": 3, "what": "a flag to the GPU and back", **time}
        return
    values = {value["name"]: value["value"] for value in point["values"]}
    if not axes:
        for name, words in (
            ("host_returns_s", "a launch, until the host returns"),
            ("device_s", "an empty kernel, on the GPU's clock"),
        ):
            if values.get(name) is not None:
                yield {"order": 0, "what": words, "time_s": values[name]}
    waiting = f", {axes['wait']}" if "wait" in axes else ""
    pause = f", after {format_time(float(axes['pause_s']))} of nothing" if "pause_s" in axes else ""
    words = f"a launch, until the host knows its end{waiting}{pause}"
    yield {"order": 2 if pause else 1, "what": words, **time}


def _copies(curve: pl.DataFrame, axes: Mapping[str, str]) -> Iterator[Row]:
    """The row of one pair of memories."""
    sizes, times_s = curve["bytes"].to_numpy(), curve["median_s"].to_numpy()
    least, most = curve.row(0, named=True), curve.row(-1, named=True)
    is_copy = least["pattern"] == COPY
    row: Row = {"order": 4 if is_copy else 5, "what": _copy_words(axes) if is_copy else SLICES}
    row["time_s"] = least["median_s"]
    row["time_s_ci"] = [least["ci_low_s"], least["ci_high_s"]]
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
    row["falls"] = _falls(curve.to_dicts())
    yield row


def _falls(points: Sequence[Row]) -> list[tuple[int, float, int, float]]:
    """Neighbouring sizes of which the smaller one takes longer, beyond both intervals."""
    return [
        (small["bytes"], small["median_s"], large["bytes"], large["median_s"])
        for small, large in pairwise(points)
        if (small["ci_low_s"] or small["median_s"]) > (large["ci_high_s"] or large["median_s"])
    ]


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


def _moved_clocks(curve: pl.DataFrame) -> list[str]:
    """A sentence if the GPU's clock was not the same for all samples of a curve."""
    clocks = [
        {value["name"]: value["value"] for value in point["values"]}
        for point in curve.iter_rows(named=True)
    ]
    lows = [clock["gpu_clock_p10_hz"] for clock in clocks if clock.get("gpu_clock_p10_hz")]
    highs = [clock["gpu_clock_p90_hz"] for clock in clocks if clock.get("gpu_clock_p90_hz")]
    if not lows or max(highs) <= MOVED * min(lows):
        return []
    name = curve.row(0, named=True)["pattern"]
    return [
        f"{name}: the GPU's clock moved between {min(lows) / 1e6:.0f} and {max(highs) / 1e6:.0f} "
        "MHz: its times are those of several states"
    ]
