# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks: kernels with official answers, in several programming models."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nhalf.base import native_files
from nhalf.base.errors import InputError, unknown
from nhalf.measure.apps import App, AppRequest, planned
from nhalf.measure.plan.axes import parse_ranks
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.planning import check_hosts, placed, placements, words
from nhalf.measure.plan.setting import Setting
from nhalf.measure.probe.exchanged import barrier_tables, exchanged
from nhalf.measure.probe.libraries import libraries_of
from nhalf.mpi.transport_files import TransportFile, kernels_of, program_files, with_kernels
from nhalf.sites.site import Site

ALL = "all"
CLASSES = ("S", "W", "A", "B", "C", "D")


class Npb(App):
    """Kernels by program, on ranks or threads."""

    title = "NAS Parallel Benchmarks: kernels of fluid dynamics, verified against official values"

    def plan(self, asked: AppRequest, site: Site) -> Plan:
        """One block for each program, on its numbers of ranks or threads."""
        programs = [_program(name) for name in words(asked.program)]
        blocks = [_block(asked, site, program) for program in programs]
        if "placement" in asked.given:
            check_hosts(blocks, site)
        plan = planned(asked, [program.name for program in programs], blocks)
        return msgspec.structs.replace(plan, settings=_parts(asked, programs, plan))


def _parts(asked: AppRequest, programs: Sequence[TransportFile], plan: Plan) -> list[Setting]:
    """What is exchanged beneath the program whose messages a library carries."""
    tables = [*(barrier_tables(words(asked.barrier)) if asked.barrier else []), *asked.table]
    if not tables:
        return []
    for program in programs:
        if program.carried_by_mpi:
            only = with_kernels(program, plan.patterns)
            return exchanged(tables, only, libraries_of(plan))
    raise InputError("--barrier and --table are for message passing", "add --program mpi")


def _program(model: str) -> TransportFile:
    """The program in a programming model.

    Raises InputError for an unknown one, MissingError if nothing native is installed.
    """
    known = {file.model.lower(): file for file in program_files().values() if file.app == "npb"}
    if model not in known:
        native_files.native_folder()
        raise unknown("program", model, known)
    return known[model]


def _block(asked: AppRequest, site: Site, program: TransportFile) -> Block:
    """What one program runs."""
    text = asked.threads or asked.ranks if program.threads else asked.ranks
    kernels = words(asked.kernel)
    known = kernels_of(program)
    for name in kernels:
        if name not in [ALL, *known]:
            raise unknown("kernel", name, known)
    block = Block(
        patterns=[ALL] if kernels == [ALL] else [f"npb-{name}" for name in kernels],
        ranks=parse_ranks(text, site.cores),
        bytes="0",
        axes={"class": ",".join(_classes(asked.class_))},
        transports=[program.name],
    )
    if program.threads:
        return block
    block = msgspec.structs.replace(block, placements=placements(asked.placement))
    return placed(block, asked.given, site)


def _classes(text: str) -> list[str]:
    """Classes as they are written in points. Raises InputError for others."""
    found = [name.upper() for name in words(text)]
    for name in found:
        if name not in CLASSES:
            raise InputError(f"there is no class {name}", f"give one of {', '.join(CLASSES)}")
    return found
