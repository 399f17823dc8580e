"""nhalf's own collectives, loaded before the library, which learn while the program runs.

They learn in all calls to a size, after some of the library's own (docs/preload.md). What they may
bring is bounded by the time in such calls. How much it is, only launches tell: those to come, or
those of an earlier run that has kept what it learned.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from nhalf.base.errors import InputError, MissingError
from nhalf.base.numbers import percent
from nhalf.experiment.improve.call_cells import TUNED, collective_rows
from nhalf.experiment.improve.candidates import CandidateSource
from nhalf.experiment.improve.change import LEAST_SHARE, Candidate, LaunchChange
from nhalf.experiment.improve.situation import Situation, upper_share
from nhalf.facts.program.program import Program
from nhalf.mpi.kept_lessons import kept_lessons
from nhalf.mpi.preload import (
    KEEP,
    TABLE,
    Preload,
    content_of,
    handles_in,
    preload,
    program_named,
)
from nhalf.mpi.switch import Affected

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
PROMISE_SHARE = 0.4
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
            PROMISE_SHARE,
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
