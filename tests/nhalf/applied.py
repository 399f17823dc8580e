"""Runs of applications whose times are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from nhalf.facts.facts import Facts
from tests.nhalf.synthetic import build_measurements

PROGRAMS = {
    "npb-mpi": {"app": "npb", "model": "MPI", "threads": False},
    "npb-openmp": {"app": "npb", "model": "OpenMP", "threads": True},
}
TITLES = {"mpich": "MPICH", "openmpi": "Open MPI", "mpich+tournament": "MPICH + tournament"}
NOISE = (1.0, 1.02, 1 / 1.02, 1.01, 1 / 1.01)
"""By launch: what disturbs a launch disturbs all that was started in it."""


class Ran(NamedTuple):
    """One kernel in one way; without a library, in threads."""

    kernel: str
    mpi: str = "mpich"
    workers: int = 1
    placement: str = "cores"


def applied(
    times_s: Mapping[Ran, float], share: float | None = 0.25, launches: int = len(NOISE)
) -> Facts:
    """Kernels of class A, each with its time; `share` of it is communication."""
    frames = [
        _frame(ran, launch, NOISE[launch] * time_s, share)
        for ran, time_s in times_s.items()
        for launch in range(launches)
    ]
    environments = {"run": {"programs": PROGRAMS}}
    return Facts(pl.concat(frames, how="vertical_relaxed"), TITLES, environments)


def _frame(ran: Ran, launch: int, time_s: float, share: float | None) -> pl.LazyFrame:
    values: list[dict[str, Any]] = [{"name": "mops", "value": 100 / time_s}]
    if share is not None:
        values.append({"name": "communication_share", "value": share})
    return build_measurements(
        libraries=(ran.mpi,), patterns=(f"npb-{ran.kernel}",), sizes=(0,), launches=[launch],
        transport="npb-mpi" if ran.mpi else "npb-openmp", ranks=ran.workers, axes="class=A",
        placement=ran.placement, samples_s=[time_s] * 3, values=values,
    )  # fmt: skip
