"""Other ways for collective calls: another algorithm of the library, or nhalf's own collectives.

Another algorithm is for the blocking calls that take most time, at their sizes. nhalf's own are
loaded before the library, and learn while the program runs.
They learn in all calls to a size, after some of the library's own (docs/preload.md). What they may
bring is bounded by the time in such calls. How much it is, only launches tell: those to come, or
those of an earlier run that has kept what it learned.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from nhalf.base.errors import InputError, MissingError, NhalfError
from nhalf.base.numbers import percent
from nhalf.base.operations import CALLS
from nhalf.base.units import format_size
from nhalf.experiment.improve.candidates import CandidateSource
from nhalf.experiment.improve.change import (
    LEAST_SHARE,
    Candidate,
    LaunchChange,
    is_for_all,
    replaced_files,
)
from nhalf.experiment.improve.situation import Situation, upper_share
from nhalf.facts.program.operations import is_non_blocking, operation
from nhalf.facts.program.program import Program
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.preload import (
    KEEP,
    TABLE,
    Preload,
    content_of,
    handles_in,
    kept_lessons,
    preload,
    program_named,
)
from nhalf.mpi.switch import Affected
from nhalf.mpi.tuner import Tuner
from nhalf.mpi.vendors import vendor_of

SPAN = 4
"""Sizes up to this multiple of each other share a rule: more rules would take more launches."""
TUNED = {call: pattern for pattern, call in CALLS.items()}
"""The names of tuners, if they differ. They do not decide on `reduce_scatter` with its counts."""


@dataclass(frozen=True)
class CallCell:
    """Blocking calls of an operation on communicators of this many ranks, from one size to another.

    Sizes are those of rules: a message, a vector or one block, 0 of a barrier. `affected` has the
    calls as a trace names and counts them.
    """

    operation: str
    ranks: int
    from_bytes: int
    to_bytes: int
    affected: Affected


def call_cells(program: Program) -> Iterator[CallCell]:
    """All cells of a program."""
    rows = collective_rows(program)
    for (name, ranks), group in rows.group_by("operation", "ranks", maintain_order=True):
        sized = group.sort("block_bytes")
        for first, last in _spans(sized["block_bytes"].unique().sort().to_list()):
            chosen = sized.filter(pl.col("block_bytes").is_between(first, last))
            traced = chosen["size_bytes"]
            affected = Affected(
                operations=(str(name),),
                from_bytes=min(traced),
                to_bytes=max(traced),
                ranks=int(str(ranks)),
            )
            yield CallCell(TUNED.get(str(name), str(name)), int(str(ranks)), first, last, affected)


def collective_rows(program: Program) -> pl.DataFrame:
    """The rows of blocking collectives with `operation`, `ranks` and the size of a block."""
    sizes = program.communicators.group_by("communicator").agg(ranks=pl.len())
    rows = program.calls.filter(pl.col("kind") == "collective")
    names = {name: operation(name) for name in rows["call"].unique() if not is_non_blocking(name)}
    rows = rows.filter(pl.col("call").is_in(list(names))).join(sizes, on="communicator")
    rows = rows.with_columns(operation=pl.col("call").replace_strict(names, default=""))
    has_all = (pl.col("operation") == "alltoall") | (
        (pl.col("operation") == "scatter") & (pl.col("partner") == pl.col("rank"))
    )
    blocks = pl.when(has_all).then(pl.col("size_bytes") // pl.col("ranks")).otherwise("size_bytes")
    return rows.with_columns(block_bytes=blocks).sort("operation", "ranks")


def _spans(sizes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Increasing sizes, in spans from one to at most some multiple of it."""
    first = last = -1
    for size in sizes:
        if last >= 0 and size > SPAN * first:
            yield first, last
            first = size
        elif last < 0:
            first = size
        last = size
    if last >= 0:
        yield first, last


CELLS_MAX = 3
"""The cells that take most; a search for more would take hours."""
ALGORITHM_PROMISE_SHARE = 0.1


class Algorithms(CandidateSource):
    """One for each algorithm of the library that suits the number of ranks, and for each cell."""

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """Rules for the very sizes and ranks where the library's file can hold them, else for all
        calls; none without a trace.
        """
        library, program = situation.library, situation.program
        if library is None or program is None:
            return
        tuner = vendor_of(library).tuner(library)
        if tuner is None:
            return
        nodes = len(set(program.hosts))
        tuner.placed(lambda ranks: nodes, shares_memory=not situation.is_virtual)
        for cell in most_expensive(program):
            for algorithm in tuner.algorithms(cell.operation):
                if tuner.suits(cell.operation, algorithm, cell.ranks):
                    yield _candidate(situation, tuner, cell, rule_of(tuner, cell, algorithm))


def most_expensive(program: Program) -> list[CallCell]:
    """The cells in which another algorithm may save most, if that is enough to matter."""
    cells = [(upper_share(program, cell.affected), cell) for cell in call_cells(program)]
    cells.sort(key=lambda entry: (-entry[0], entry[1].operation, entry[1].from_bytes))
    return [cell for share, cell in cells[:CELLS_MAX] if share >= LEAST_SHARE]


def rule_of(tuner: Tuner, cell: CallCell, algorithm: str) -> Rule:
    """The algorithm for a cell as the library's file can hold it; for all calls where it cannot."""
    to_bytes = cell.to_bytes if cell.operation != "barrier" else math.inf
    narrow = Rule(cell.operation, cell.ranks, cell.ranks, cell.from_bytes, to_bytes, algorithm)
    everywhere = Rule(cell.operation, 0, math.inf, 0, math.inf, algorithm)
    try:
        held = tuner.expressible([narrow]) if tuner.writable(cell.operation, algorithm) else []
        tuner.text(held)
    except NhalfError:
        return everywhere
    return held[0] if held else everywhere


def _candidate(situation: Situation, tuner: Tuner, cell: CallCell, rule: Rule) -> Candidate:
    program, library = situation.program, situation.library
    assert program is not None
    assert library is not None
    where = "" if is_for_all(rule) else _where(cell, rule, situation.ranks)
    replaced = replaced_files(tuner, situation.launch.variables)
    instead = f" instead of {replaced[0].path.name}" if replaced else ""
    return situation.candidate(
        f"{rule.operation}{where} by {rule.algorithm}{instead}",
        f"the library's algorithm {rule.algorithm} for every {rule.operation}{where}",
        f"leave out its choice for {rule.operation}{where}",
        LaunchChange(rules=(rule,), tuner=tuner, honoured_by=library.vendor),
        _reached(situation, tuner, cell, rule),
        ALGORITHM_PROMISE_SHARE,
        upper_share(program, cell.affected),
    )


def _where(cell: CallCell, rule: Rule, ranks: int) -> str:
    """' of 8 B to 32 B on 4 ranks', as far as the rule says so."""
    words = ""
    if math.isfinite(rule.to_bytes):
        words = f" of {format_size(rule.from_bytes)}"
        words += f" to {format_size(rule.to_bytes)}" if rule.to_bytes > rule.from_bytes else ""
    is_apart = rule.from_ranks == rule.to_ranks != ranks
    return words + (f" on {cell.ranks} ranks" if is_apart else "")


def _reached(situation: Situation, tuner: Tuner, cell: CallCell, rule: Rule) -> Affected:
    """The calls that a rule can affect."""
    assert situation.program is not None
    reach = tuner.reach(rule.operation, rule.algorithm)
    if reach == "collectives":
        names = situation.program.calls["call"].unique().to_list()
        return Affected(operations=tuple(sorted({operation(name) for name in names})))
    if reach == "operations" or is_for_all(rule):
        return Affected(operations=cell.affected.operations)
    return cell.affected


ROUTED = (
    *("barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"),
    *("gather", "scatter", "reduce_scatter_block", "scan"),
)
MOST_BYTES = (1 << 21) - 1
"""No larger message, vector or block learns (native/interposer/lessons.hpp)."""
MOST_BYTES_BY_TABLE = 8192
WHOLE = ("alltoall", "reduce_scatter_block")
"""Their traced sizes are those of all blocks together."""
RULED = ("reduce", "allreduce")
"""What need not learn: reductions of some types take shared memory to this size from the first call
on (native/interposer/choices.hpp)."""
LIBRARY_CALLS, LIBRARY_CALLS_LATER = 128, 12
"""This many first calls of a class of sizes are the library's own: before ranks share memory, and
afterwards, or where an earlier run has learned (native/interposer/learning.hpp)."""
LEARNED_PROMISE_SHARE = 0.4
TEXT = (
    "collectives go the way that nhalf's library learns to be the fastest: shared memory,"
    " single copies, or the library's own"
)
NAME = "nhalf's collectives"
PRELOAD = "LD_PRELOAD"


class OwnCollectives(CandidateSource):
    """One, where all ranks are on a host."""

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """The library to preload, which may have to be compiled once; not if it cannot help."""
        if situation.library is None or situation.is_virtual or not situation.is_on_one_host:
            return
        affected = _affected(situation)
        candidate = situation.candidate(
            NAME,
            TEXT,
            f"leave out nhalf's library in {PRELOAD}",
            LaunchChange(),
            affected,
            LEARNED_PROMISE_SHARE,
        )
        saved = _learned_share(situation, affected)
        if saved is not None:
            saved = min(saved, candidate.upper_share)
            text = f"{TEXT}; as an earlier run has learned, about {percent(saved, 1)} less time"
            candidate = replace(candidate, text=text, expected_share=saved)
        if candidate.upper_share >= LEAST_SHARE:
            loaded = _loaded(situation)
            candidate = replace(
                candidate, change=LaunchChange({PRELOAD: loaded.variables[PRELOAD]})
            )
        yield candidate


def _affected(situation: Situation) -> list[Affected]:
    """The calls that may leave the library's own way; with a table of the user's, all may."""
    variables = situation.launch.variables
    if situation.program is None or variables.get(TABLE):
        return [Affected(operations=ROUTED)]
    return list(learning_calls(situation.program, has_lessons=bool(variables.get(KEEP))))


def _learned_share(situation: Situation, affected: Sequence[Affected]) -> float | None:
    """What earlier runs would have saved of the time; None if nothing of these calls is known."""
    file, program = situation.launch.variables.get(KEEP), situation.program
    if not file or program is None:
        return None
    lessons = kept_lessons(Path(file), program.trace.library)
    shares = []
    for calls in affected:
        (name,) = calls.operations
        blocks = calls.ranks if name in WHOLE else 1
        size_class = int(calls.from_bytes // blocks).bit_length()
        from_bytes = 1 << size_class >> 1
        time_share = lessons.get((calls.ranks, TUNED.get(name, name), from_bytes))
        if time_share is not None:
            own_share = min(upper_share(program, calls), _time_share(program, calls))
            shares.append(own_share / situation.timed_share * (1 - time_share))
    return sum(shares) if shares else None


def _time_share(program: Program, calls: Affected) -> float:
    """The share of its time that a rank is in calls of an operation, as a mean of all ranks."""
    sizes = pl.col("size_bytes").is_between(calls.from_bytes, calls.to_bytes)
    is_chosen = pl.col("operation").is_in(calls.operations) & (pl.col("ranks") == calls.ranks)
    time_s = float(collective_rows(program).filter(is_chosen & sizes)["time_s"].sum())
    whole_s = program.trace.end_s - program.trace.start_s
    return time_s / program.ranks / whole_s if whole_s > 0 else 0.0


def learning_calls(program: Program, has_lessons: bool = False) -> Iterator[Affected]:
    """The calls of a program that may leave the library's own way, by operation, ranks and class.

    A class holds the sizes from a power of two to twice that.
    """
    rows = collective_rows(program).filter(
        pl.col("operation").is_in(ROUTED) & (pl.col("ranks") > 1)
    )
    block_bytes = (
        pl.when(pl.col("operation").is_in(WHOLE))
        .then(pl.col("size_bytes") // pl.col("ranks"))
        .otherwise("block_bytes")
        .alias("block_bytes")
    )
    size_class = block_bytes.map_elements(int.bit_length, return_dtype=pl.Int64)
    rows = rows.with_columns(block_bytes, size_class=size_class)
    of_class = ["rank", "communicator", "operation", "size_class"]
    rows = rows.with_columns(calls=pl.col("count").sum().over(of_class))
    sets_up = pl.col("calls").max().over("communicator") > LIBRARY_CALLS
    learns = (sets_up | has_lessons) & (pl.col("calls") > LIBRARY_CALLS_LATER)
    follows_table = pl.col("operation").is_in(RULED) & (
        pl.col("block_bytes") <= MOST_BYTES_BY_TABLE
    )
    has_data = (pl.col("block_bytes") > 0) | (pl.col("operation") == "barrier")
    served = rows.filter(
        has_data & (pl.col("block_bytes") <= MOST_BYTES) & (learns | follows_table)
    )
    for row in (
        served.group_by("operation", "ranks", "size_class")
        .agg(least_bytes=pl.col("size_bytes").min(), most_bytes=pl.col("size_bytes").max())
        .sort("operation", "ranks", "size_class")
        .iter_rows(named=True)
    ):
        yield Affected(
            operations=(row["operation"],),
            from_bytes=row["least_bytes"],
            to_bytes=row["most_bytes"],
            ranks=row["ranks"],
        )


def _loaded(situation: Situation) -> Preload:
    """What is preloaded into the program. Raises MissingError if there is no library for it."""
    assert situation.library is not None
    program = program_named(situation.launch.program)
    is_program = bool(handles_in(content_of(program)))
    try:
        chosen = preload(
            situation.library, program if is_program else None, installed=situation.installed
        )
    except InputError as error:
        raise MissingError(error.message, error.remedy) from error
    inherited = situation.launch.variables.get(PRELOAD, "")
    if inherited and inherited not in chosen.variables[PRELOAD]:
        joined = f"{chosen.variables[PRELOAD]}:{inherited}"
        return Preload(chosen.path, {PRELOAD: joined})
    return chosen
