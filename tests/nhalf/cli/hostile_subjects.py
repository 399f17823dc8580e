"""Runs, machines, ledgers and promises that no sane machine gives, as files."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from nhalf.base.typed_toml import toml_of
from nhalf.store.keys import VERSION
from nhalf.store.run import Run
from tests.nhalf.present.hostile import LIBRARIES, hostile_environment, hostile_rows

TIMES_S = (0.0, 1e-300, 1e-12, 1e-6, 1.234567891e-6, 1.0, 1e12, 1e300)
RATES_BPS = (1e-300, 1.0, 1e9, 1.234567891e9, 1e12, 1e300)
SIZES = (0, 1, 1000, 2**20, 2**40, 2**62)
COUNTS = (1, 2, 3, 16, 10**6)
NAMES = ("pingpong", "bcast", "a name", "[red]µ[/]", "x" * 300, "ü\tö", "größer/../kleiner")
"""What a machine, a pattern or a library may be called."""


def write_run(seed: int, folder: Path, visit: int = 0, started_s: float = 1.7e9) -> Path:
    """A finished run; others of this seed have the same points, but other times."""
    description = {
        "environment": hostile_environment(seed),
        "titles": {"mpich": "MPICH 5.0.2"},
    }
    run = Run.create(folder, description)
    rows = [{**row, "started_s": started_s} for row in hostile_rows(seed, visit)]
    write_measurements(run.path, rows)
    return run.path


def write_measurements(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as the file of measurements of a run."""
    from nhalf.store.record import COLUMNS

    frame = pl.DataFrame(rows, schema=COLUMNS)
    frame.write_parquet(folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)})


def hostile_machine(seed: int) -> dict[str, Any]:
    """The content of a machine file: curves, formulas, figures and resources without measure."""
    draw = random.Random(f"machine {seed}")
    libraries = LIBRARIES[: draw.choice((1, 1, 1, 1, 1, 2))]
    return {
        "name": draw.choice(NAMES),
        "schema": 1,
        "title": draw.choice(NAMES),
        "source": "a publication",
        "node": draw.choice(
            ({}, _some(draw, {"ranks": draw.choice(COUNTS), "memory_Bps": _rate(draw)}))
        ),
        "network": {
            "topology": draw.choice(_topologies(draw)),
            **_some(draw, {"bandwidth_Bps": _rate(draw), "latency_s": _time(draw)}),
        },
        "environment": {"clock": "1.7 GHz"},
        "models": [
            _curve(draw, pattern, library)
            for library in libraries
            for pattern in ("pingpong", "bcast", "allreduce")[draw.choice((0, 0, 0, 1)) :]
        ],
        "patterns": [_pattern(draw, libraries) for _ in range(draw.randint(0, 2))],
        "points": [_figure(draw) for _ in range(draw.randint(0, 3))],
        "loggp": [_loggp(draw, libraries) for _ in range(draw.randint(0, 2))],
        "computing": _some(
            draw,
            {"clock_hz": _rate(draw), "flops_per_s": _rate(draw), "memory_Bps": _rate(draw)},
        ),
    }  # fmt: skip


def write_machine(seed: int, path: Path) -> Path:
    """A machine as a file."""
    path.write_bytes(toml_of(_without_empty(hostile_machine(seed))))
    return path


def _without_empty(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if value not in ({}, [], None)}


def _some(draw: random.Random, content: dict[str, Any]) -> dict[str, Any]:
    """A part of the content, which may be all of it or nothing."""
    return {
        name: value for name, value in content.items() if name == "ranks" or draw.random() < 0.7
    }


def _time(draw: random.Random) -> float:
    return draw.choice((*TIMES_S, 1e-6 * 10 ** draw.uniform(-6, 6)))


def _rate(draw: random.Random) -> float:
    return draw.choice((*RATES_BPS, 1e9 * 10 ** draw.uniform(-6, 6)))


def _ends(draw: random.Random, value: float) -> list[float]:
    """An interval around a value: equal ends, usual ones, wide or endless ones."""
    factor = draw.choice((1.0, 1.05, 50.0, 1e6, 1e200, math.inf))
    return [value / factor, value * factor]


def _topologies(draw: random.Random) -> list[dict[str, Any]]:
    return [
        {"kind": "shared-memory"},
        {"kind": "crossbar", "nodes": draw.choice((0, 1, 16, 10**6))},
        {"kind": "direct", "nodes": draw.choice((2, 10**6))},
        {"kind": "torus", "dimensions": [draw.choice(COUNTS) for _ in range(draw.randint(1, 4))]},
        {"kind": "hypercube", "dimension": draw.choice((1, 4, 20))},
        {"kind": "multistage", "radix": 4, "stages": 2, "nodes": draw.choice(COUNTS)},
    ]


def _curve(draw: random.Random, pattern: str, library: str) -> dict[str, Any]:
    first = draw.choice((0, 0, 0, 1))
    edges = [first, *sorted(draw.sample(SIZES[2:], draw.choice((1, 1, 2))))]
    segments = [_segment(draw, low, high) for low, high in itertools.pairwise(edges)]
    breaks = [
        {
            "low_bytes": edge, "high_bytes": edge + 1, "at_bytes": float(edge),
            "change_percent": draw.choice((0.0, -99.0, 12.3, 1e6, 1e300)),
            "kind": draw.choice(("jump", "bend")),
        }
        for edge in edges[1:-1]
    ]  # fmt: skip
    held = {"heldout_median": _share(draw), "heldout_p95": _share(draw), "heldout_sizes": 12}
    steps = {
        "offset_bytes": draw.choice(SIZES), "period_bytes": draw.choice(SIZES),
        "height_s": _time(draw), "height_ci": _ends(draw, 1e-6),
    }  # fmt: skip
    return {
        "run": draw.choice(("", "run")),
        "transport": "mpi",
        "mpi": library,
        "pattern": pattern,
        "ranks": draw.choice((2, 16)) if pattern != "pingpong" else 2,
        "placement": draw.choice(("", "cores", "same-node", "other-node")),
        "segments": segments,
        "breakpoints": breaks,
        **(held if draw.random() < 0.5 else {}),
        **({"packet_steps": steps} if draw.random() < 0.3 else {}),
    }


def _share(draw: random.Random) -> float:
    return draw.choice((0.0, 1e-12, 0.034, 1.0, 12.0, 1e9, 1e300, math.inf, math.nan))


def _segment(draw: random.Random, low: int, high: int) -> dict[str, Any]:
    time_s, rate_Bps, half = _time(draw), _rate(draw), draw.choice((0.0, 1.5, 1e3, 1e18, 1e300))
    sign = draw.choice((1, 1, 1, -1))
    segment: dict[str, Any] = {"from_bytes": low, "to_bytes": high, "t0_s": sign * time_s}
    if draw.random() < 0.7:
        segment |= {"r_inf_Bps": rate_Bps}
        segment |= {"n_half_bytes": half} if draw.random() < 0.7 else {}
    if draw.random() < 0.6:
        segment |= {
            "t0_ci": _ends(draw, time_s), "r_inf_ci": _ends(draw, rate_Bps),
            "n_half_ci": _ends(draw, half),
        }  # fmt: skip
    return segment | ({"root_s": time_s} if draw.random() < 0.1 else {})


def _pattern(draw: random.Random, libraries: Sequence[str]) -> dict[str, Any]:
    sums = {
        name: {term: draw.choice((1, -1)) * _time(draw) for term in draw.sample(TERMS, 2)}
        for name in ("startup_s", "per_byte_s")
    }
    intervals = {
        name.replace("_s", "_ci"): {term: _ends(draw, value) for term, value in terms.items()}
        for name, terms in sums.items()
    }
    held = {"heldout_median": _share(draw), "heldout_p95": _share(draw), "heldout_cells": 12}
    return {
        "pattern": draw.choice(("bcast", "allreduce", "barrier")),
        "mpi": draw.choice(libraries),
        "algorithm": draw.choice(("", "native", "binomial")),
        **_some(draw, {"to_bytes": draw.choice(SIZES), "to_ranks": draw.choice((16, 10**6))}),
        **sums,
        **(intervals if draw.random() < 0.5 else {}),
        **(held if draw.random() < 0.5 else {}),
    }


TERMS = ("1", "p", "log2(p)", "p^3", "floor(log2(p))")


def _figure(draw: random.Random) -> dict[str, Any]:
    content = {
        "ranks": draw.choice((2, 16, 10**6)), "size_bytes": draw.choice(SIZES),
        "time_s": _time(draw), "rate_Bps": _rate(draw),
        "ratio": draw.choice((0.0, 1.5, 1e300, math.inf)), "what": draw.choice(NAMES),
    }  # fmt: skip
    return {"pattern": draw.choice(("bcast", "primitive")), **_some(draw, content)}


def _loggp(draw: random.Random, libraries: Sequence[str]) -> dict[str, Any]:
    names = ("latency", "send_overhead", "recv_overhead", "gap", "gap_per_byte", "half_round_trip")
    content: dict[str, Any] = {f"{name}_s": _time(draw) for name in names}
    content |= {f"{name}_ci": _ends(draw, content[f"{name}_s"]) for name in names}
    sizes = [
        {"size_bytes": size, "send_overhead_s": _time(draw), "gap_s": _time(draw)}
        for size in draw.sample(SIZES, 2)
    ]
    return {
        "transport": "mpi",
        "mpi": draw.choice(libraries),
        **_some(draw, {**content, "identifiable": draw.random() < 0.5, "sizes": sizes}),
    }


def write_promises(seed: int, path: Path) -> Path:
    """Promises about times, rates and models, which are met by chance if at all."""
    draw = random.Random(f"promise {seed}")
    times = ("1e-300 s", "1ns", "3.2 µs", "1e300 s", "12345678901 s")
    rates = ("1e-300 B/s", "1.2 GB/s", "1e300 B/s")
    kinds = {"time": times, "t0": times, "bandwidth": rates, "r_inf": rates, "n_half": ("1", "1T")}
    expect = [
        {
            "metric": metric,
            draw.choice(("at_most", "at_least")): draw.choice(kinds[metric]),
            "name": draw.choice(NAMES),
            **({"tolerance": draw.choice(("5%", "1e9%"))} if draw.random() < 0.5 else {}),
        }
        for metric in draw.sample(sorted(kinds), 3)
    ]
    path.write_bytes(msgspec.toml.encode({"expect": expect}))
    return path


def write_processor(seed: int, path: Path) -> Path:
    """A processor whose clock, units and caches are of any speed."""
    draw = random.Random(f"processor {seed}")

    def positive() -> float:
        return draw.choice((1e-300, 1e-9, 0.123456789, 1.0, 2.0, 1e9, 1e300))

    names = ("add", "multiply", "fused_multiply_add", "divide", "square_root", "load", "store")
    content = {
        "schema": 1,
        "name": draw.choice(NAMES),
        "clock_hz": positive(),
        "issue_per_cycle": positive(),
        "operations": [
            {"name": name, "per_cycle": positive(), "latency_cycles": positive()} for name in names
        ],
        "units": [{"name": "fp", "kind": "floating_point", "cycles": {"add": positive()}}],
        "caches": [
            {"level": 1, "size_bytes": draw.choice((1, 32768, 2**60)), "line_bytes": 64,
             "load_miss_cycles": positive()}
        ],
    }  # fmt: skip
    path.write_bytes(msgspec.toml.encode(content))
    return path


def write_ledger(seed: int, path: Path) -> Path:
    """Predictions with their comparisons, some by a factor of 1e300, and lines that are none."""
    draw = random.Random(f"ledger {seed}")
    lines = ["no line", ""]
    for number in range(draw.choice((1, 3, 30))):
        kind = draw.choice(("model", "composed", "program", "b_eff"))
        cell = {
            "machine": draw.choice(NAMES), "pattern": "bcast", "library": draw.choice(LIBRARIES),
            "ranks": draw.choice((2, 10**6)), "size_bytes": draw.choice(SIZES) + number,
        }  # fmt: skip
        shared = {"kind": kind, "cell": cell}
        value = draw.choice((1e-300, 1e-6, 1.0, 1e300))
        ends = draw.choice(({}, {"low": value / 2, "high": value * 2}, {"low": 0.0, "high": value}))
        predicted = {"line": "prediction", "at": "2026-01-01T00:00:00Z", "value": value}
        lines.append(json.dumps({**predicted, **ends, **shared}))
        score = {
            "line": "score", "predicted_at": "2026-01-01T00:00:00Z",
            "measured_at": "2026-01-02T00:00:00Z", "run": draw.choice(NAMES),
            "measured_ratio": draw.choice((1e-300, 1e-9, 0.5, 1.0, 1.0, 3.0, 1e9, 1e300)),
        }  # fmt: skip
        ratio = draw.choice((None, 1.0, 1.1, 1e9, 1e300))
        lines.append(json.dumps({**score, **({"end_ratio": ratio} if ratio else {}), **shared}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
