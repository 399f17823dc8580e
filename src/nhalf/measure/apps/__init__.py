"""Applications that can be run: one file each, found by its name.

An application names its programs, which are files of apps/, and turns a request into a plan.
What its programs support is known only when the plan is resolved.
"""

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nhalf.base import plugins
from nhalf.base.errors import unknown
from nhalf.base.request import Request, option, word
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.request import WHAT, Effort, Where, parse_placements, words
from nhalf.mpi.named_prefix import named_here
from nhalf.sites.placement import Placement
from nhalf.sites.site import Site

PACKAGE = "nhalf.measure.apps"


@dataclass(frozen=True, kw_only=True)
class Running(Request, heading=WHAT):
    """Which application, and which part of it."""

    name: str = word("", "Application (nhalf app --list).", metavar="APPLICATION")
    kernel: str = option("all", "Kernels, separated by commas, or all.")
    class_: str = option(
        "A", "Problem classes, separated by commas: S, W, A, B, C or D; of S-DES keys.", "--class"
    )
    program: str = option(
        "mpi",
        "Programming models, separated by commas: mpi, openmp, hybrid (ranks with threads), java, "
        "threads.",
    )
    ranks: str = option("1,2", "Numbers of ranks: 1,2,4 or 1:cores:x2.")
    threads: str = option(
        "", "Numbers of threads; default: as --ranks; of each hybrid rank: all cores are taken."
    )
    mpi: str = option("all", "MPI libraries, separated by commas, or all.")
    placement: str = option(
        "cores",
        "Placements, separated by commas: cores, free, same-cache, 4x2 (hosts x ranks) or 4x2+1.",
    )
    barrier: str = option(
        "", "Also run with these barriers instead of the library's: tournament, ..."
    )
    grid_barriers: bool = option(
        False, "Also run MG with a barrier of all ranks after each step on a grid."
    )
    table: tuple[Path, ...] = option(
        (), "Also run with this decision table, e.g. from nhalf tune; repeatable."
    )

    @functools.cached_property
    def placements(self) -> tuple[Placement, ...]:
        """The placements as parsed, which may be unknown. Raises InputError for none."""
        return parse_placements(self.placement)


@dataclass(frozen=True, kw_only=True)
class AppRequest(Running, Effort, Where):
    """Everything needed to plan the run of an application."""

    resume: Path | None = option(None, "Continue this run.", heading=WHAT)
    timeout: str = option("600s", "Give up on a library that has not answered for this long.")


class App(ABC):
    """An application."""

    title: ClassVar[str]
    """The application in one line."""

    @abstractmethod
    def plan(self, request: AppRequest, site: Site) -> Plan:
        """Plan what is requested. Raises InputError for an impossible request."""


def make_plan(request: AppRequest, site: Site, transports: list[str], blocks: list[Block]) -> Plan:
    """Combine blocks and all other requested options into a plan.

    Raises InputError for placements that need more hosts.
    """
    from nhalf.measure.plan.planning import check_hosts, parse_precision

    if "placement" in request.given:
        check_hosts(blocks, site)
    return Plan(
        transports=transports,
        mpi=named_here(words(request.mpi)),
        blocks=blocks,
        launches=request.launches,
        budget_s=request.budget_s,
        precision=parse_precision(request.precision),
        options="",
        seed=request.seed,
        timeout_s=request.timeout_s,
        mpi_prefixes=request.mpi_prefixes,
        hosts=request.hosts,
        host_file=request.host_file_path,
        launcher=request.launcher,
    )


def app_of(name: str) -> App:
    """Return an application by name.

    Raises InputError for an unknown name, with the closest known ones.
    """
    applications = apps()
    if name not in applications:
        raise unknown("application", name, applications)
    return applications[name]()


def apps() -> dict[str, type[App]]:
    """Return every application by name."""
    return plugins.load(PACKAGE, App)
