"""What a probe that is not compiled yet will say of itself, by one that is here."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from nhalf.base import native_files
from nhalf.base.describe import describe
from nhalf.base.errors import MissingError
from nhalf.measure.probe.pattern import AxisInfo, PatternInfo
from nhalf.models.npb.problems import CLASSES, problem, rank_rule
from nhalf.mpi import discover
from nhalf.mpi.probe import ready_probe
from nhalf.mpi.transport_files import TransportFile, kernels_of

PROBES = ("probe-threads", "probe-model")
"""Probes of which every installation has one."""


def every_pattern() -> list[Mapping[str, Any]]:
    """Describe every pattern of a probe, whether or not a transport can run it.

    Raises MissingError if nothing native is installed.
    """
    patterns = describe([str(_probe())])["patterns"]
    return [{**pattern, "present": True} for pattern in patterns]


def every_info() -> dict[str, PatternInfo]:
    """Every pattern of a probe by name. Raises MissingError if nothing native is installed."""
    infos = msgspec.convert(every_pattern(), list[PatternInfo])
    return {info.name: info for info in infos}


def stand_in_description(transport: TransportFile) -> dict[str, Any]:
    """The description of the same probe on another library, else of one that has all patterns.

    Raises MissingError if neither is here.
    """
    for library in discover.libraries([]) if transport.started_by_mpi else ():
        with suppress(MissingError):
            path, _ = ready_probe(library, transport)
            if path:
                return describe([str(path)], library.environment)
    description = describe([str(_probe())])
    patterns = _kernels(transport) if transport.app else every_pattern()
    return {**description, "transport": transport.name, "patterns": patterns}


def kernel_info(app: str, kernel: str, classes: str) -> PatternInfo:
    """Return on which ranks a kernel runs, as its sources say before anything is compiled."""
    most = {name: problem(kernel, name).ranks_max for name in classes.split(",")}
    return PatternInfo(
        name=f"{app}-{kernel}",
        ranks_min=1,
        timing="slowest-rank",
        sized=False,
        axes=(AxisInfo("class", "A"),),
        ranks_rule=rank_rule(kernel),
        ranks_max={name: ranks for name, ranks in most.items() if ranks},
    )


def _kernels(program: TransportFile) -> list[dict[str, Any]]:
    """The kernels of an application's program, without the memory that they need."""
    return [
        msgspec.to_builtins(kernel_info(program.app, kernel, ",".join(CLASSES)))
        for kernel in kernels_of(program)
    ]


def _probe() -> Path:
    for name in PROBES[:-1]:
        with suppress(MissingError):
            return native_files.executable(name)
    return native_files.executable(PROBES[-1])
