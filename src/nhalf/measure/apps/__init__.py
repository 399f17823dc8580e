# SPDX-License-Identifier: Apache-2.0
"""Applications that can be run: one file each, found by its name.

An application names its programs, which are files of native/apps, and makes a plan of what is
asked. What its programs say of themselves is known when the plan is resolved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from nhalf.base import plugins
from nhalf.base.errors import unknown
from nhalf.base.request import Option, Request, Word
from nhalf.base.units import parse_duration
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.planning import parse_precision, words
from nhalf.measure.plan.request import WHAT, Effort, Where
from nhalf.sites.site import Site

PACKAGE = "nhalf.measure.apps"


@dataclass(frozen=True, kw_only=True)
class Running(Request, heading=WHAT):
    """Which application, and which part of it."""

    name: Annotated[str, Word("Application (nhalf app --list).", metavar="APPLICATION")] = ""
    kernel: Annotated[str, Option("Kernels, separated by commas, or all.")] = "all"
    class_: Annotated[
        str,
        Option(
            "Problem classes, separated by commas: S, W, A, B, C or D; of S-DES keys.", "--class"
        ),
    ] = "A"
    program: Annotated[
        str, Option("Programming models, separated by commas: mpi, openmp, java, threads.")
    ] = "mpi"
    ranks: Annotated[str, Option("Numbers of ranks: 1,2,4 or 1:cores:x2.")] = "1,2"
    threads: Annotated[str, Option("Numbers of threads; default: as --ranks.")] = ""
    mpi: Annotated[str, Option("MPI libraries, separated by commas, or all.")] = "all"
    placement: Annotated[
        str,
        Option("Placements, separated by commas: cores, free, same-cache or 4x2 (hosts x ranks)."),
    ] = "cores"
    barrier: Annotated[
        str, Option("Also run with these barriers instead of the library's: tournament, ...")
    ] = ""
    table: Annotated[
        tuple[Path, ...],
        Option("Also run with this decision table, e.g. from nhalf tune; repeatable."),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class AppRequest(Running, Effort, Where):
    """All that makes a plan of an application."""

    resume: Annotated[Path | None, Option("Continue this run.", heading=WHAT)] = None
    timeout: Annotated[str, Option("Give up on a library that has not answered for this long.")] = (
        "600s"
    )


class App(ABC):
    """An application."""

    title: ClassVar[str]
    """What it is, in a line."""

    @abstractmethod
    def plan(self, asked: AppRequest, site: Site) -> Plan:
        """The plan of what is asked. Raises InputError for what cannot be."""


def planned(asked: AppRequest, transports: list[str], blocks: list[Block]) -> Plan:
    """The plan of blocks with everything else that was asked for."""
    return Plan(
        transports=transports,
        mpi=words(asked.mpi),
        blocks=blocks,
        launches=asked.launches,
        budget_s=parse_duration(asked.budget) if asked.budget else 0.0,
        precision=parse_precision(asked.precision),
        options="",
        seed=asked.seed,
        timeout_s=parse_duration(asked.timeout),
        mpi_prefixes=asked.mpi_prefixes,
        hosts=asked.hosts,
        host_file=asked.host_file_path,
        launcher=asked.launcher,
    )


def app_of(name: str) -> App:
    """An application by name.

    Raises InputError for an unknown one, with the closest known ones.
    """
    found = apps()
    if name not in found:
        raise unknown("application", name, found)
    return found[name]()


def apps() -> dict[str, type[App]]:
    """Every application by name."""
    return plugins.load(PACKAGE, App)
