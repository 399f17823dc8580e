"""The NAS Parallel Benchmarks: kernels with official answers, in several programming models."""

from collections.abc import Sequence

import msgspec

from nhalf.base import native_files
from nhalf.base.errors import InputError, unknown
from nhalf.measure.apps import App, AppRequest, make_plan
from nhalf.measure.plan.axes import parse_ranks
from nhalf.measure.plan.plan import Block, Plan, Setting
from nhalf.measure.plan.planning import placed, placement_texts
from nhalf.measure.plan.request import words
from nhalf.measure.plan.resolve import check_ranks
from nhalf.measure.probe.libraries import barrier_tables, exchange_settings, libraries_of
from nhalf.measure.probe.pattern import kernel_info
from nhalf.models.npb.problems import APP, CLASSES
from nhalf.mpi.transport_files import TransportFile, kernels_of, program_files, with_kernels
from nhalf.sites.site import Site

ALL = "all"


class Npb(App):
    """The kernels of each program, on ranks or threads."""

    title = "NAS Parallel Benchmarks: kernels of fluid dynamics, verified against official values"

    def plan(self, request: AppRequest, site: Site) -> Plan:
        """Plan one block per program, on its numbers of ranks or threads."""
        programs = [_program(name) for name in words(request.program)]
        blocks = [_block(request, site, program) for program in programs]
        plan = make_plan(request, site, [program.name for program in programs], blocks)
        return msgspec.structs.replace(plan, settings=_settings(request, programs, plan))


def _settings(request: AppRequest, programs: Sequence[TransportFile], plan: Plan) -> list[Setting]:
    """Return the settings that replace parts of the library beneath a message-passing program."""
    tables = [*(barrier_tables(words(request.barrier)) if request.barrier else []), *request.table]
    if not tables:
        return []
    for program in programs:
        if program.carried_by_mpi:
            application = with_kernels(program, plan.patterns)
            return exchange_settings(tables, application, libraries_of(plan))
    raise InputError("--barrier and --table are for message passing", "add --program mpi")


def _program(model: str) -> TransportFile:
    """Return the program of a programming model.

    Raises InputError for an unknown model, MissingError if nothing native is installed.
    """
    programs = {file.model.lower(): file for file in program_files().values() if file.app == APP}
    if model not in programs:
        native_files.native_folder()
        raise unknown("program", model, programs)
    return programs[model]


def _block(request: AppRequest, site: Site, program: TransportFile) -> Block:
    """Return the block that one program runs."""
    text = request.threads or request.ranks if program.threads else request.ranks
    kernels = words(request.kernel)
    kernel_names = kernels_of(program)
    for name in kernels:
        if name not in [ALL, *kernel_names]:
            raise unknown("kernel", name, kernel_names)
    axes = {"class": ",".join(_classes(request.class_))}
    if request.grid_barriers and not program.started_by_mpi:
        raise InputError("--grid-barriers is for message passing", "choose --program mpi or hybrid")
    if request.grid_barriers and kernels != ["mg"]:
        raise InputError("--grid-barriers is for MG, which has grids", "choose --kernel mg")
    block = Block(
        patterns=[ALL] if kernels == [ALL] else [f"{APP}-{name}" for name in kernels],
        ranks=parse_ranks(text, site.cores),
        bytes="0",
        axes={**axes, "barriers": "none,grids"} if request.grid_barriers else axes,
        transports=[program.name],
    )
    if program.threads:
        return block
    block = msgspec.structs.replace(block, placements=placement_texts(request.placements))
    block = placed(block, request.given, site)
    if program.has_teams:
        threads = request.threads or str(max(1, site.cores // max(block.ranks)))
        numbers = ",".join(map(str, parse_ranks(threads, site.cores)))
        block = msgspec.structs.replace(block, axes={**block.axes, "threads": numbers})
    if kernels != [ALL]:
        for name in kernels:
            check_ranks(kernel_info(APP, name, block.axes["class"]), block)
    return block


def _classes(text: str) -> list[str]:
    """Parse problem classes into upper case. Raises InputError for an unknown class."""
    classes = [name.upper() for name in words(text)]
    for name in classes:
        if name not in CLASSES:
            raise InputError(f"there is no class {name}", f"give one of {', '.join(CLASSES)}")
    return classes
