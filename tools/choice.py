"""How good a choice from few measurements is, on machines where the truth can be had whole.

`python tools/choice.py [--only NAME,...]` simulates every algorithm of barrier and broadcast in all
cells of a grid, lets decide/choice.py choose from SHARE of the cells, and keeps grid and verdict in
docs/choice/*.json, of which docs/guide/predict.md makes its table. Needs SimGrid, and many minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nhalf.decide.choice import AlgorithmChoice, Cell, Grid, explore
from nhalf.experiment.explore import per_node
from nhalf.machines.algorithms import algorithms
from nhalf.machines.catalogue import machine
from nhalf.machines.change import change
from nhalf.machines.message import Messages
from nhalf.machines.parts import parts_of
from nhalf.measure.simulate.subject import site_of

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "choice"
SHARE = 0.15
NEAR = 0.05
DIGITS = 6
TIMEOUT_S = 7200
RESUMED_MAX = 30
PART_CELLS = range(40, 101)
SEED = 1
RANKS = (*(2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 24, 31, 32, 33, 48, 64, 96, 100, 128, 192, 200, 256),)
SIZES = (1, 8, 64, 256, *(1024 << i for i in range(11)))
MACHINES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "fat-tree": ("Altix 3700 BX2, fat tree", "altix-bx2", ()),
    "torus": (
        "SCI, a torus of 16 x 16 instead of 4 x 4",
        "sci-torus",
        ("network.topology=torus:16x16",),
    ),
    "crossbar": (
        "Opteron with Myrinet, 128 nodes of 2 instead of 64",
        "opteron-myrinet",
        ("network.topology=crossbar:128",),
    ),
}
OPERATIONS = ("barrier", "bcast")


def main(arguments: Sequence[str]) -> int:
    """Simulate or read the grids, judge the choice on each, and keep both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(MACHINES), help="some of the machines")
    parser.add_argument("--judge", action="store_true", help="take the grids that are kept")
    parser.add_argument("--parts", type=int, default=0, help="judge this many small parts of them")
    options = parser.parse_args(arguments)
    if options.parts:
        for name in options.only.split(","):
            sys.stdout.write(f"{name}: {parts_verdict(name, options.parts)}\n")
        return 0
    for name in options.only.split(","):
        for operation in OPERATIONS:
            path = FOLDER / f"{operation}-{name}.json"
            known = json.loads(path.read_text()) if options.judge else None
            content = known or simulated(name, operation)
            content["verdict"] = verdict(content)
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(content, separators=(",", ":")) + "\n")
            sys.stdout.write(f"{path.stem}: {content['verdict']}\n")
    return 0


def simulated(name: str, operation: str) -> dict[str, Any]:
    """Every algorithm in every cell: `time_s` by algorithm, a row per number of ranks."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        words = ["predict", operation, "--engine", "simgrid", "--machine", MACHINES[name][1]]
        words += ["--algorithm", "all", "--ranks", ",".join(map(str, RANKS))]
        words += [word for text in MACHINES[name][2] for word in ("--set", text)]
        if operation != "barrier":
            words += ["--bytes", ",".join(map(str, SIZES))]
        ways = [[*words, "--out", str(run)], *(["run", "--resume", str(run)],) * RESUMED_MAX]
        for way in ways:
            command = [sys.executable, "-m", "nhalf", *way, "--quiet"]
            subprocess.run(command, check=True, timeout=TIMEOUT_S, stdout=subprocess.DEVNULL)
            if is_whole(run):
                break
        return kept(name, operation, run)


def is_whole(path: Path) -> bool:
    """Whether every algorithm was simulated in every cell: a run ends after its default time."""
    from nhalf.store.run import Run

    rows = Run.open(path).measurements().select("algorithm", "ranks", "bytes").collect()
    cells = rows.unique()
    return len(cells) == len(RANKS) * cells["algorithm"].n_unique() * cells["bytes"].n_unique()


def kept(name: str, operation: str, path: Path) -> dict[str, Any]:
    """What is kept of a run; of several placements that over the most nodes counts."""
    from nhalf.statistics.summary import summarise
    from nhalf.store.run import Run

    hosts = pl.col("placement").str.split("x").list.first().cast(pl.Int64)
    rows = summarise(Run.open(path).measurements()).filter(hosts == hosts.max().over("ranks"))
    names = sorted(rows["algorithm"].unique())
    sizes = sorted(rows["bytes"].unique())
    known = {
        (row["algorithm"], row["ranks"], row["bytes"]): float(f"{row['median_s']:.{DIGITS}g}")
        for row in rows.to_dicts()
    }
    return {
        "machine": name,
        "operation": operation,
        "ranks": list(RANKS),
        "bytes": sizes,
        "time_s": {a: [[known[a, p, n] for n in sizes] for p in RANKS] for a in names},
    }


def verdict(content: Mapping[str, Any], share: float = SHARE) -> dict[str, Any]:
    """What the choice from a share of the cells costs beside the best of all algorithms."""
    _, name, changes = MACHINES[content["machine"]]
    changed = change(machine(name), changes)
    parts, site = parts_of(Messages(changed)), site_of(changed, max(content["ranks"]))
    shares = (per_node(p, len(site.hosts), site.cores_per_host) for p in content["ranks"])
    grid = Grid(
        tuple(content["ranks"]), tuple(content["bytes"]), parts.rendezvous_bytes, tuple(shares)
    )
    truth = {a: np.array(rows) for a, rows in content["time_s"].items()}
    known = [each for each in algorithms()[content["operation"]] if each.name in truth]
    choice = AlgorithmChoice.of(content["operation"], known, parts, grid)
    count = sum(times.size for times in truth.values())

    def measure(cells: Sequence[Cell]) -> dict[Cell, float]:
        return {(a, i, j): float(truth[a][i, j]) for a, i, j in cells}

    explore(choice, measure, int(share * count))
    best = np.min(np.stack(list(truth.values())), axis=0)
    chosen = [[truth[a][i, j] for j, a in enumerate(row)] for i, row in enumerate(choice.best())]
    penalty = np.array(chosen) / best - 1
    native = truth["native"] / best - 1
    return {
        "cells": int(best.size),
        "measured_fraction": round(len(choice.measured_s) / count, 4),
        "near_fraction": round(float(np.mean(penalty <= NEAR)), 4),
        "penalty_mean": round(float(penalty.mean()), 5),
        "penalty_max": round(float(penalty.max()), 4),
        "native_near_fraction": round(float(np.mean(native <= NEAR)), 4),
        "native_penalty_mean": round(float(native.mean()), 4),
    }


def parts_verdict(name: str, count: int) -> dict[str, float]:
    """The same over broadcasts on `count` parts of a grid, drawn by chance, of PART_CELLS each."""
    content = json.loads((FOLDER / f"bcast-{name}.json").read_text())
    draw = np.random.default_rng(SEED)
    found = [verdict(_part(content, draw)) for _ in range(count)]
    near = [each["near_fraction"] for each in found]
    return {
        "near_fraction_mean": round(float(np.mean(near)), 4),
        "near_fraction_min": min(near),
        "penalty_mean": round(float(np.mean([each["penalty_mean"] for each in found])), 5),
    }


def _part(content: Mapping[str, Any], draw: np.random.Generator) -> dict[str, Any]:
    """Some numbers of ranks and some sizes of a grid, 5 to 12 each."""
    sides = (0, 0)
    while sides[0] * sides[1] not in PART_CELLS:
        sides = (int(draw.integers(5, 13)), int(draw.integers(5, 13)))
    rows, columns = (
        sorted(int(i) for i in draw.choice(len(content[axis]), side, replace=False))
        for axis, side in zip(("ranks", "bytes"), sides, strict=True)
    )
    return {
        **content,
        "ranks": [content["ranks"][i] for i in rows],
        "bytes": [content["bytes"][j] for j in columns],
        "time_s": {
            a: [[times[i][j] for j in columns] for i in rows]
            for a, times in content["time_s"].items()
        },
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
