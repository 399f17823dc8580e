"""Synthetic measurements of machines whose truth is known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl

from nhalf.store.keys import MEASUREMENT_COLUMNS, VERSION
from nhalf.store.run import Run

SIZES = [0, *(2**k for k in range(23))]

LATENCY_S, RATE_BPS = 1e-6, 5e9

Asked = TypeVar("Asked")


def asked_of(kind: type[Asked], asked: dict[str, Any]) -> tuple[Asked, dict[str, Any]]:
    """What is asked of a builder, and the columns that are to hold something else."""
    names = {field.name for field in fields(cast("Any", kind))}
    given = {name: value for name, value in asked.items() if name in names}
    return kind(**given), {name: asked[name] for name in asked if name not in names}


@dataclass(frozen=True)
class Synthetic:
    """Measurements of T(n) = 1 us + n / (5 GB/s) with lognormal noise.

    `noise` is the deviation of the samples of a launch, `launch_noise` that of whole launches (one
    factor for all sizes of a launch and one for each size); `slower` multiplies the times of a
    library.
    """

    libraries: Sequence[str] = ("mpich",)
    patterns: Sequence[str] = ("pingpong",)
    sizes: Sequence[int] = tuple(SIZES)
    launches: int | Sequence[int] = 5
    samples: int = 20
    noise: float = 0.02
    launch_noise: float = 0.02
    slower: Mapping[str, float] | None = None
    seed: int = 1

    def points(self) -> Iterator[dict[str, Any]]:
        """The columns of every point that differ from point to point."""
        random = np.random.default_rng(self.seed)
        launches = range(self.launches) if isinstance(self.launches, int) else self.launches
        for library, launch in itertools.product(self.libraries, launches):
            factor = (self.slower or {}).get(library, 1.0)
            whole = random.normal(0.0, self.launch_noise)
            for position, (pattern, size) in enumerate(
                itertools.product(self.patterns, self.sizes)
            ):
                time_s = factor * (LATENCY_S + size / RATE_BPS)
                shift = whole + random.normal(0.0, self.launch_noise)
                drawn = time_s * np.exp(shift + random.normal(0.0, self.noise, self.samples))
                yield {
                    "mpi": library,
                    "pattern": pattern,
                    "bytes": size,
                    "launch": launch,
                    "position": position,
                    "started_s": 1.7e9 + 10 * launch + position / 10,
                    "bytes_per_time": size,
                    "samples_s": drawn.tolist(),
                }


USUAL: dict[str, Any] = {
    "run": "run", "transport": "mpi", "mpi": "mpich", "algorithm": "", "ranks": 2, "placement": "",
    "axes": "", "started_s": 1.7e9, "batch": 100, "messages_per_round": 2, "stop": "precision",
    "verified": True, "advice": [], "rank_s": [], "values": [],
}  # fmt: skip
"""The columns of a point, where nobody asks for others."""


def build_measurements(**asked: Any) -> pl.LazyFrame:
    """Measurements as `Synthetic` describes them; anything else is a column with one value.

    So are advice=["unpinned"] and verified=False.
    """
    synthetic, columns = asked_of(Synthetic, asked)
    rows = [{**USUAL, **point, **columns} for point in synthetic.points()]
    return pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS).lazy()


@dataclass(frozen=True)
class LogPMachine:
    """A machine without noise: seconds and, for G, seconds per byte."""

    mpi: str = "mpich"
    o_s: float = 1e-6
    o_r: float = 2e-6
    g: float = 4e-6
    L: float = 5e-6
    G: float = 1e-9
    sizes: Sequence[int] = (0, 1, 4096, 65536)

    def times_s(self, size: int) -> dict[str, float]:
        """The time of each pattern at one size."""
        return {
            "overhead-send": self.o_s,
            "overhead-recv": self.o_r,
            "gap": self.g + size * self.G,
            "roundtrip": 2 * (self.o_s + self.L + self.o_r) + size * self.G,
        }


def build_logp(**asked: Any) -> pl.LazyFrame:
    """What the patterns of LogP measure on a `LogPMachine`; anything else as above."""
    machine, others = asked_of(LogPMachine, {"launches": 3, **asked})
    frames = [
        build_measurements(
            libraries=(machine.mpi,), patterns=(pattern,), sizes=(size,), noise=0.0,
            launch_noise=0.0, samples_s=[time_s] * 3, **others,
        )
        for size in machine.sizes
        for pattern, time_s in machine.times_s(size).items()
    ]  # fmt: skip
    return pl.concat(frames)


@dataclass(frozen=True)
class TrafficMachine:
    """Of x % of `saturated_Bps` what is accepted is no more than `knee` of it; load 0: all of it.

    `axes` are further ones, 'name=value,'; a message waits 1 us times its load in percent.
    """

    mpi: str = "mpich"
    to: str = "uniform"
    saturated_Bps: float = 8e9
    knee: float = 0.9
    senders: int = 4
    on_node_share: float | None = None
    loads: Sequence[int] = (10, 25, 50, 75, 100, 150)
    axes: str = ""

    def values(self, load: int) -> dict[str, float]:
        """What the pattern says beside its time."""
        said = {
            "messages": 128.0 * self.senders,
            "saturated_Bps": self.saturated_Bps,
            "senders": float(self.senders),
        }
        if self.on_node_share is not None:
            said["on_node_share"] = self.on_node_share
        offered_Bps = self.saturated_Bps * load / 100
        waits = {"offered_Bps": offered_Bps, "delay_s": load * 1e-6, "last_delay_s": 0.0}
        return said | (waits if load else {})

    def accepted_Bps(self, load: int) -> float:
        """What arrives of an offered load."""
        offered_Bps = self.saturated_Bps * load / 100
        return min(offered_Bps, self.knee * self.saturated_Bps) if load else self.saturated_Bps


def build_traffic(**asked: Any) -> pl.LazyFrame:
    """Traffic on a `TrafficMachine`; anything else as above."""
    machine, others = asked_of(TrafficMachine, {"sizes": (16384,), "launches": 3, **asked})
    moved_bytes = 1 << 20
    frames = []
    for load in machine.loads:
        values = machine.values(load)
        frames.append(
            build_measurements(
                libraries=(machine.mpi,), patterns=("traffic",), ranks=4, noise=0.0,
                launch_noise=0.0, axes=f"{machine.axes}load={load},to={machine.to}",
                bytes_per_time=moved_bytes,
                samples_s=[moved_bytes / machine.accepted_Bps(load)] * 3,
                values=[{"name": name, "value": values[name]} for name in sorted(values)],
                **others,
            )
        )  # fmt: skip
    return pl.concat(frames)


def build_pair_map(
    hosts: Sequence[str],
    factor: Callable[[str, str], float] = lambda first, second: 1.0,
    *,
    pattern: str = "pair-map-bandwidth",
    size: int = 2**18,
    launches: int = 3,
    **columns: Any,
) -> pl.LazyFrame:
    """A map of ranks on `hosts`: 1 µs within a host, 100 µs between two, times `factor`."""
    count = len(hosts)

    def time_s(i: int, j: int) -> float:
        return (1e-6 if hosts[i] == hosts[j] else 1e-4) * factor(hosts[i], hosts[j])

    pairs = [(i, j) for i in range(count) for j in range(count) if i != j]
    if pattern == "pair-map-together":
        values = [{"name": f"{i}>{j}", "value": time_s(i, j)} for i, j in pairs]
        points = [("", [1e-3] * count, [{"name": "window", "value": 4.0}, *values])]
    else:
        wanted = (
            pairs
            if pattern == "pair-map-bandwidth"
            else [pair for pair in pairs if pair[0] < pair[1]]
        )
        points = [
            (
                f"direction={'up' if i < j else 'down'},round={place + 1}",
                # Others wait: theirs must not be taken.
                [time_s(i, j) if rank == i else 7.0 for rank in range(count)],
                [{"name": f"peer_of_{i}", "value": float(j)}],
            )
            for place, (i, j) in enumerate(wanted)
        ]
    rows = [
        {
            **USUAL, "pattern": pattern, "ranks": count, "axes": axes, "bytes": size,
            "launch": launch, "position": position, "batch": 16, "messages_per_round": 1,
            "bytes_per_time": size, "samples_s": [max(rank_s)] * 3, "rank_s": rank_s,
            "values": named, **columns,
        }
        for launch in range(launches)
        for position, (axes, rank_s, named) in enumerate(points)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS).lazy()


def write_pair_map_run(path: Path, hosts: Sequence[str], *maps: pl.LazyFrame) -> Run:
    """A finished run of maps of ranks on `hosts`, of which its journal tells."""
    run = Run.create(path, {})
    places = [{"host": host} for host in hosts]
    start = {"subject": "mpich", "ranks": len(hosts), "asked_placement": "", "placement": places}
    with run.journal() as journal:
        journal.append({"event": "launch", "launch": 0, **start})
    size_bytes = (path / "journal.jsonl").stat().st_size
    pl.concat(maps).collect().drop("run").write_parquet(
        path / "measurements.parquet",
        metadata={"nhalf.schema": str(VERSION), "nhalf.journal_bytes": str(size_bytes)},
    )
    return run
