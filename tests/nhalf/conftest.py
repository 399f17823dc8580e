"""Fixtures shared by the Python tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import MissingError
from nhalf.mpi.simgrid import platform, probe, simgrid
from tests.nhalf.synthetic import build_logp, build_measurements, build_pair_map, build_traffic

MACHINE = """
schema = 1
name = "plain"
[node]
ranks = 2
[[models]]
pattern = "pingpong"
transport = "mpi"
ranks = 2
placement = "same-node"
segments = [{from_bytes = 0, to_bytes = 4194304, t0_s = 2e-6, r_inf_Bps = 5e9}]
[[models]]
pattern = "pingpong"
transport = "mpi"
ranks = 2
placement = "other-node"
segments = [{from_bytes = 0, to_bytes = 4194304, t0_s = 9e-6, r_inf_Bps = 1e9}]
[[loggp]]
transport = "mpi"
placement = "other-node"
latency_s = 5e-6
send_overhead_s = 1.5e-6
recv_overhead_s = 2.5e-6
gap_s = 3e-6
"""


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a machine with LogGP parameters: 2 ranks on a node."""
    path = tmp_path_factory.mktemp("machine") / "plain.toml"
    path.write_text(MACHINE)
    return path


@pytest.fixture(scope="session")
def make_measurements() -> Callable[..., pl.LazyFrame]:
    """A builder of synthetic measurements: see `Synthetic` for what can be asked."""
    return build_measurements


@pytest.fixture
def make_logp() -> Callable[..., pl.LazyFrame]:
    """A builder of what the patterns of LogP measure on a machine with given parameters."""
    return build_logp


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


@pytest.fixture(scope="session")
def simulator() -> None:
    """Leaves tests out where SimGrid is not; compiles what they need, which is told once."""
    try:
        parts = simgrid()
    except MissingError as error:
        pytest.skip(str(error))
    probe(parts)
    platform(parts)
