"""What each engine answers in canonical cells: the model, a real library, SimGrid."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.launch.survivor import Survivor
from nhalf.base.operations import NATIVE
from nhalf.decide.engine_names import LIBRARY, SIMGRID
from nhalf.decide.way import Way
from nhalf.decide.ways import FOLLOWED, known_ways
from nhalf.facts.facts import Facts
from nhalf.machines.algorithms import algorithms
from nhalf.machines.message import Messages
from nhalf.machines.spread import placed
from nhalf.measure.loop import session
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.simulate.session import Simulation
from nhalf.measure.simulate.session import begin as begin_simulation
from nhalf.measure.virtual.machine import TIMEOUT_S, VirtualMachine, in_virtual_time
from nhalf.models.expression import PART_BYTES
from nhalf.studies.engines.cells import Cell

SAME = {NATIVE: (NATIVE, FOLLOWED)}
"""The ways of a pattern that has no algorithms to choose from: as known, and message by message."""
Times = dict[Cell, float]
"""Seconds by cell; of cells without an answer there are none."""


def by_model(messages: Messages, cells: Iterable[Cell]) -> tuple[Times, Times]:
    """What `nhalf predict` composes, and beside it what was published or fitted of the pattern."""
    composed_s: Times = {}
    published_s: Times = {}
    ways: dict[tuple[str, str], list[Way]] = {}
    for cell in cells:
        question = cell.pattern, cell.where
        if question not in ways:
            ways[question] = ways_of(messages, *question)
        for way in ways[question]:
            if way.algorithm not in SAME.get(cell.algorithm, (cell.algorithm,)):
                continue
            try:
                time_s = way.time_s(cell.ranks, cell.size_bytes)
            except InputError:
                continue
            (composed_s if way.is_composed else published_s)[cell] = time_s
    return {**published_s, **composed_s}, published_s


def ways_of(messages: Messages, pattern: str, where: str) -> list[Way]:
    """The ways of a pattern with placed ranks; none if nothing is known of it."""
    try:
        placed_messages = Messages(placed(messages.machine, where), messages.mpi)
        return known_ways(
            pattern, placed_messages, algorithms(), extrapolate=True, part_bytes=PART_BYTES
        )
    except InputError:
        return []


def asked(
    messages: Messages,
    blocks: Sequence[Block],
    engines: Sequence[str],
    mpi: str,
    progress: Progress,
) -> tuple[dict[str, Times], dict[str, str]]:
    """Times by engine that runs programs, and why the others of `engines` that do are missing."""
    ask: dict[str, Callable[[], Times]] = {
        LIBRARY: lambda: by_library(messages, blocks, mpi, progress),
        SIMGRID: lambda: by_simgrid(messages, blocks, progress),
    }
    times_s: dict[str, Times] = {}
    missing: dict[str, str] = {}
    for engine in (name for name in ask if name in engines):
        try:
            times_s[engine] = ask[engine]()
        except MissingError as error:
            missing[engine] = str(error)
    return times_s, missing


def by_library(messages: Messages, blocks: Sequence[Block], mpi: str, progress: Progress) -> Times:
    """What a real MPI library takes in virtual time; raises MissingError without one."""
    placements = [placement for block in blocks for placement in block.parsed_placements]
    ranks = {count for block in blocks for count in block.ranks}
    virtual = VirtualMachine.for_ranks(messages, ranks, placements)
    plan = Plan(
        transports=["mpi"],
        mpi=[mpi] if mpi else [],
        blocks=list(blocks),
        launches=1,
        budget_s=0.0,
        precision=0.01,
        options="",
        seed=1,
        timeout_s=TIMEOUT_S,
        one_library=True,
    )
    plan = in_virtual_time(plan, virtual, TIMEOUT_S)
    return _measured(
        lambda folder: session.begin(plan, folder, virtual.site, machine=virtual), progress
    )


def by_simgrid(messages: Messages, blocks: Sequence[Block], progress: Progress) -> Times:
    """What SMPI takes on SimGrid's platform; raises MissingError without SimGrid."""
    ranks = max(count for block in blocks for count in block.ranks)
    how = Simulation(ranks=ranks, mpi=messages.mpi)
    return _measured(
        lambda folder: begin_simulation(messages.machine, how, "", list(blocks), folder), progress
    )


def _measured(begin: Callable[[Path], session.Prepared], progress: Progress) -> Times:
    """The medians of a run that is not kept; raises FailedError if nothing was measured."""
    with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-")) as folder:
        outcome = session.measure(begin(Path(folder) / "run"), progress)
        rows = Facts.of([outcome.run]).summary.to_dicts()
    if not rows:
        reasons = "; ".join(outcome.failed.values())
        raise FailedError("nothing was measured", reasons or "ask for fewer ranks")
    names = ("pattern", "algorithm", "ranks", "placement", "bytes")
    times_s = {Cell(*(row[name] for name in names)): row["median_s"] for row in rows}
    return {cell: time_s for cell, time_s in times_s.items() if time_s is not None}
