"""Findings on the time of a program: in MPI, waiting, and out of balance."""

from collections.abc import Iterator

import polars as pl

from nhalf.base.listing import few
from nhalf.base.numbers import format_number, percent, times
from nhalf.base.units import format_size, format_time
from nhalf.decide.program.basis import is_disturbed, share_in_mpi, shares_in_mpi, traced_run
from nhalf.facts.program.calls import collective_calls, threads_by_rank
from nhalf.facts.program.disturbance import most_taken_share, shared_processors
from nhalf.facts.program.program import Program
from nhalf.facts.program.states import rate_phases
from nhalf.facts.program.waits import LATE_SENDER, late_pairs, waiting_by_cause
from nhalf.present.findings import Finder, Finding
from nhalf.present.program.verdict import REMEDY, others_lines, sharing_text
from nhalf.present.wording import count


class TimeInMpi(Finder[Program]):
    """The share of the run spent in MPI, and the call that takes most of it."""

    def find(self, program: Program) -> Iterator[Finding]:
        if not program.is_timed:
            return
        in_mpi = share_in_mpi(program)
        if in_mpi is None:
            return
        low, high = percent(in_mpi.least_share), percent(in_mpi.most_share)
        spread = "" if low == high else f" ({low} to {high})"
        text = (
            f"Ranks spend {percent(in_mpi.mean_share)} of the run in MPI{spread}; "
            f"{in_mpi.call} takes {percent(in_mpi.call_share)} of that."
        )
        yield Finding(text, 70, "time-in-mpi", label="Time in MPI", share=in_mpi.mean_share)


WAITING_SHARE_MIN = 0.05
EQUAL = 1.1
CAUSES = {
    "late sender": "for messages that are sent late",
    "late receiver": "for receivers that are late",
    "collective": "in collective operations for the last rank",
    "completion": "for messages to complete",
}


class Waiting(Finder[Program]):
    """Ranks that wait for much of the run, and the cause."""

    def find(self, program: Program) -> Iterator[Finding]:
        if not program.is_timed:
            return
        shares = shares_in_mpi(program).drop_nulls()
        if shares.is_empty():
            return
        most = shares.sort("waiting_share", "rank", descending=[True, False]).row(0, named=True)
        share = most["waiting_share"]
        if share < WAITING_SHARE_MIN:
            return
        mean = float(shares["waiting_share"].mean())  # type: ignore[arg-type]
        causes = waiting_by_cause(program).filter(pl.col("rank") == most["rank"]).sort("waiting_s")
        cause = CAUSES[causes["cause"][-1]] if causes.height else ""
        least = shares.sort("waiting_share", "rank").row(0, named=True)
        remedy = ""
        if least["waiting_share"] < share / 2 and not is_disturbed(program):
            least_share = percent(least["waiting_share"])
            remedy = f"Rank {least['rank']} waits least ({least_share}): rebalance the work."
        who = f"Rank {most['rank']} waits" if share > EQUAL * mean else "Ranks wait"
        beside = f"; the mean of all ranks is {percent(mean)}" if share > EQUAL * mean else ""
        text = f"{who} for {percent(share)} of the run, mostly {cause}{beside}."
        importance = 75 if share > 0.2 else 55
        yield Finding(text, importance, "waiting", remedy=remedy, share=share, label="Waiting")


LATE_MESSAGES_SHARE_MIN = 0.03


class LateMessages(Finder[Program]):
    """With a timeline: the late rank, the number of messages, and the worst of them."""

    def find(self, program: Program) -> Iterator[Finding]:
        if not program.is_timed or late_pairs(program).is_empty() or program.elapsed_s <= 0:
            return
        row = late_pairs(program).row(0, named=True)
        share = row["waiting_s"] / program.elapsed_s
        if share < LATE_MESSAGES_SHARE_MIN:
            return
        is_sender = row["cause"] == LATE_SENDER
        does = "sends" if is_sender else "receives"
        way = "from" if is_sender else "to"
        remedy = (
            f"Look at what rank {row['late_rank']} does beforehand: nhalf export TRACE --to chrome "
            "shows it beside the others."
        )
        text = (
            f"Rank {row['late_rank']} {does} late: rank {row['rank']} waits "
            f"{format_time(row['waiting_s'])} ({percent(share)} of the run) for "
            f"{row['messages']} of {row['of_messages']} messages {way} it, "
            f"{format_time(row['longest_s'])} for the worst ({format_size(row['size_bytes'])}, "
            f"{format_time(row['from_s'])} after the start)."
        )
        yield Finding(text, 58, "late-messages", remedy, share=share, label="Late messages")


RATIO_MIN = 1.1
SAVED_SHARE_MIN = 0.02


class Imbalance(Finder[Program]):
    """Time outside MPI counts as computing; not where others slowed it by nobody knows what."""

    def find(self, program: Program) -> Iterator[Finding]:
        if not program.is_timed:
            return
        shares = shares_in_mpi(program)["time_share"].drop_nulls()
        if shares.len() < 2 or is_disturbed(program):
            return
        computing = 1 - shares
        mean, most = float(computing.mean() or 0), float(computing.max())  # type: ignore[arg-type]
        if mean <= 0 or most < RATIO_MIN * mean or most - mean < SAVED_SHARE_MIN:
            return
        rank = computing.arg_max()
        ratio = most / mean
        text = (
            f"Rank {rank} spends {times(ratio)} the mean time of all ranks outside MPI: with equal "
            f"shares of the work the run could be up to {percent(most - mean)} shorter."
        )
        yield Finding(
            text, 68, "imbalance", value=ratio, label="Load imbalance", figure=times(ratio)
        )


COLLECTIVES_SHARE_MIN = 0.05
TUNED = ("bcast", "barrier", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter")


class CostlyCollective(Finder[Program]):
    """The collective operation that takes most of the run."""

    def find(self, program: Program) -> Iterator[Finding]:
        if collective_calls(program).is_empty() or program.elapsed_s <= 0:
            return
        row = collective_calls(program).row(0, named=True)
        threads = threads_by_rank(program)["threads"].sum() / program.ranks
        share = min(1.0, row["time_s"] / program.elapsed_s / threads)
        if share < COLLECTIVES_SHARE_MIN:
            return
        size = f" of {format_size(row['size_bytes'])}" if row["size_bytes"] else ""
        waits = row["waiting_s"] / row["time_s"] if row["time_s"] else 0.0
        late = f", {percent(waits)} of it waiting" if waits > 0.1 else ""
        remedy = ""
        if row["operation"] in TUNED and waits < 0.5:
            arguments = f"--pattern {row['operation']} --ranks {row['ranks']}"
            remedy = f"Choose its algorithm: nhalf tune {arguments}."
        text = (
            f"{row['call']}{size} takes {percent(share)} of the run: "
            f"{count(row['operations'], 'operation')} among {row['ranks']} ranks, "
            f"{format_time(row['time_s'] / max(1, row['operations']))} each{late}."
        )
        yield Finding(text, 65, "costly-collective", remedy, share=share, label="Collectives")


class Phases(Finder[Program]):
    """Phases in which the program sends at different rates."""

    def find(self, program: Program) -> Iterator[Finding]:
        if not program.is_timed:
            return
        rows = rate_phases(program)
        if len(rows) < 2:
            return
        busiest = max(rows, key=lambda row: row["messages_per_s"])
        total = sum(row["messages"] for row in rows)
        text = (
            f"The rate of messages has {len(rows)} phases; in the busiest, from "
            f"{format_time(busiest['start_s'])} to {format_time(busiest['end_s'])}, "
            f"{percent(busiest['messages'] / total)} of all messages and collective calls are "
            f"issued ({format_number(busiest['messages_per_s'])} per second)."
        )
        yield Finding(text, importance=45, kind="phases", label="Phases", value=len(rows))


class Incomplete(Finder[Program]):
    """An incomplete trace is reported first."""

    def find(self, program: Program) -> Iterator[Finding]:
        trace = program.trace
        if trace.complete:
            return
        cut = [str(record.rank) for record in trace.ranks if not record.finished]
        unfinished = f"Rank{'s' if len(cut) > 1 else ''} {few(cut, 6)} did not reach MPI_Finalize. "
        details = f"{unfinished if cut else ''}{' '.join(trace.notes)}"
        text = f"The trace is incomplete: it ends where it was cut. {details}".strip()
        figure = f"{len(cut)} of {program.ranks}" if cut else ""
        yield Finding(text, 100, "incomplete", label="Incomplete", figure=figure)


class Others(Finder[Program]):
    """What follows is of another run than the one that was seen, or of a disturbed one."""

    def find(self, program: Program) -> Iterator[Finding]:
        lines = list(others_lines(program))
        share = most_taken_share(traced_run(program))
        if lines:
            yield Finding(" ".join(lines), 99, "others", share=share, label="Off its core")


class SharedProcessorsFinder(Finder[Program]):
    """All times are then those of ranks that wait for their turn."""

    def find(self, program: Program) -> Iterator[Finding]:
        shared = shared_processors(program)
        if shared:
            label = f"{'Threads' if shared[0].has_threads else 'Ranks'} on a processor"
            number, kind = shared[0].threads_each, "shared-processors"
            yield Finding(sharing_text(shared), 98, kind, REMEDY, value=number, label=label)
