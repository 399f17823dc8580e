# SPDX-License-Identifier: Apache-2.0
"""Fixtures shared by the Python tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.store.schema import MEASUREMENT_COLUMNS

SIZES = [0, *(2**k for k in range(23))]
LATENCY_S, RATE_BPS = 1e-6, 5e9


@pytest.fixture(scope="session")
def make_measurements() -> Callable[..., pl.LazyFrame]:
    """A builder of synthetic measurements: see `build_measurements` for what can be asked."""
    return build_measurements


def build_measurements(
    *,
    run: str = "run",
    libraries: Sequence[str] = ("mpich",),
    patterns: Sequence[str] = ("pingpong",),
    sizes: Sequence[int] = tuple(SIZES),
    launches: int | Sequence[int] = 5,
    samples: int = 20,
    noise: float = 0.02,
    launch_noise: float = 0.02,
    slower: dict[str, float] | None = None,
    seed: int = 1,
    **columns: Any,
) -> pl.LazyFrame:
    """Measurements of T(n) = 1 us + n / (5 GB/s) with lognormal noise.

    `noise` is the deviation of the samples of a launch, `launch_noise` that of whole launches (one
    factor for all sizes of a launch and one for each size); `slower` multiplies the times of a
    library; `columns` replace columns by constants (advice=["unpinned"], verified=False).
    """
    random = np.random.default_rng(seed)
    numbers = range(launches) if isinstance(launches, int) else launches
    rows: list[dict[str, Any]] = []
    for library in libraries:
        factor = (slower or {}).get(library, 1.0)
        for launch in numbers:
            whole = random.normal(0.0, launch_noise)
            for position, (pattern, size) in enumerate((p, s) for p in patterns for s in sizes):
                time_s = factor * (LATENCY_S + size / RATE_BPS)
                shift = whole + random.normal(0.0, launch_noise)
                drawn = time_s * np.exp(shift + random.normal(0.0, noise, samples))
                rows.append(
                    {
                        "run": run,
                        "transport": "mpi",
                        "mpi": library,
                        "pattern": pattern,
                        "algorithm": "",
                        "ranks": 2,
                        "placement": "",
                        "axes": "",
                        "bytes": size,
                        "launch": launch,
                        "position": position,
                        "started_s": 1.7e9 + 10 * launch + position / 10,
                        "batch": 100,
                        "messages_per_round": 2,
                        "bytes_per_time": size,
                        "stop": "precision",
                        "verified": True,
                        "advice": [],
                        "samples_s": drawn.tolist(),
                        "rank_s": [],
                        "values": [],
                        **columns,
                    }
                )
    return pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS).lazy()


@pytest.fixture
def make_logp() -> Callable[..., pl.LazyFrame]:
    """A builder of what the patterns of LogP measure on a machine with given parameters."""
    return build_logp


def build_logp(
    *,
    mpi: str = "mpich",
    o_s: float = 1e-6,
    o_r: float = 2e-6,
    g: float = 4e-6,
    L: float = 5e-6,
    G: float = 1e-9,
    launches: int = 3,
    sizes: Sequence[int] = (0, 1, 4096, 65536),
    **columns: Any,
) -> pl.LazyFrame:
    """Measurements without noise: seconds and, for G, seconds per byte."""
    formulas: dict[str, Callable[[int], float]] = {
        "overhead-send": lambda size: o_s,
        "overhead-recv": lambda size: o_r,
        "gap": lambda size: g + size * G,
        "roundtrip": lambda size: 2 * (o_s + L + o_r) + size * G,
    }
    frames = [
        build_measurements(
            libraries=(mpi,), patterns=(pattern,), sizes=(size,), launches=launches, noise=0.0,
            launch_noise=0.0, samples_s=[formula(size)] * 3, **columns,
        )
        for pattern, formula in formulas.items()
        for size in sizes
    ]  # fmt: skip
    return pl.concat(frames)


@pytest.fixture
def make_rings() -> Callable[..., pl.LazyFrame]:
    """Every point of b_eff: random orders take `scattered` times as long; `columns` as above."""

    def make(scattered: float = 1.0, libraries: Sequence[str] = ("mpich",), **columns: Any) -> Any:
        lengths = [*(2**k for k in range(13)), *(round(4096 * 4 ** (j / 8)) for j in range(1, 9))]
        given = {"launches": 2, "samples": 2, "noise": 0.0, "launch_noise": 0.001, **columns}
        return pl.concat(
            build_measurements(
                libraries=libraries,
                patterns=("ring",),
                sizes=lengths,
                axes=f"method={method},ring={ring}",
                slower=dict.fromkeys(libraries, scattered if ring > 6 else 1.0),
                seed=ring,
                **given,
            )
            for ring in range(1, 37)
            for method in ("sendrecv", "alltoallv", "nonblocking")
        )

    return make


@pytest.fixture
def make_traffic() -> Callable[..., pl.LazyFrame]:
    """A builder of traffic on a machine that accepts all up to a known share of what it can."""
    return build_traffic


def build_traffic(
    *,
    mpi: str = "mpich",
    to: str = "uniform",
    saturated_Bps: float = 8e9,
    knee: float = 0.9,
    senders: int = 4,
    loads: Sequence[int] = (10, 25, 50, 75, 100, 150),
    sizes: Sequence[int] = (16384,),
    launches: int = 3,
    axes: str = "",
    **columns: Any,
) -> pl.LazyFrame:
    """Of x % of `saturated_Bps` what is accepted is no more than `knee` of it; load 0: all of it.

    `axes` are further ones, 'name=value,'; a message waits 1 us times its load in percent.
    """
    moved_bytes = 1 << 20
    frames = []
    for load in loads:
        offered_Bps = saturated_Bps * load / 100
        accepted_Bps = min(offered_Bps, knee * saturated_Bps) if load else saturated_Bps
        values = {
            "messages": 128.0 * senders,
            "saturated_Bps": saturated_Bps,
            "senders": float(senders),
        }
        if load:
            values |= {"offered_Bps": offered_Bps, "delay_s": load * 1e-6, "last_delay_s": 0.0}
        frames.append(
            build_measurements(
                libraries=(mpi,), patterns=("traffic",), sizes=sizes, launches=launches, ranks=4,
                noise=0.0, launch_noise=0.0, axes=f"{axes}load={load},to={to}",
                bytes_per_time=moved_bytes, samples_s=[moved_bytes / accepted_Bps] * 3,
                values=[{"name": name, "value": values[name]} for name in sorted(values)],
                **columns,
            )
        )  # fmt: skip
    return pl.concat(frames)


@pytest.fixture
def point_event() -> Callable[..., dict[str, Any]]:
    """A point's event; columns may be given other values."""

    def make(**columns: Any) -> dict[str, Any]:
        return {
            "event": "point",
            "subject": "mpich-5.0.2",
            "transport": "mpi",
            "mpi": "mpich-5.0.2",
            "pattern": "pingpong",
            "algorithm": "native",
            "ranks": 2,
            "placement": "cores",
            "axes": "",
            "bytes": 8,
            "launch": 0,
            "position": 0,
            "started_s": 1.7e9,
            "batch": 100,
            "messages_per_round": 2,
            "bytes_per_time": 8,
            "stop": "precision",
            "verified": True,
            "advice": [],
            "samples_s": [1e-6, 1.1e-6, 1.2e-6],
            **columns,
        }

    return make


@pytest.fixture
def make_pair_map() -> Callable[..., pl.LazyFrame]:
    """A builder of maps of all pairs of ranks on given hosts."""
    return build_pair_map


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
            "run": "run", "transport": "mpi", "mpi": "mpich", "pattern": pattern, "algorithm": "",
            "ranks": count, "placement": "", "axes": axes, "bytes": size, "launch": launch,
            "position": position, "started_s": 1.7e9, "batch": 16, "messages_per_round": 1,
            "bytes_per_time": size, "stop": "precision", "verified": True, "advice": [],
            "samples_s": [max(rank_s)] * 3, "rank_s": rank_s, "values": named, **columns,
        }
        for launch in range(launches)
        for position, (axes, rank_s, named) in enumerate(points)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS).lazy()
