# SPDX-License-Identifier: Apache-2.0
"""Another algorithm of the library for the collective operations that take most time."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.decide.improve.candidate import Candidate
from nhalf.decide.improve.candidates import Source
from nhalf.decide.improve.change import Change
from nhalf.decide.improve.situation import Situation
from nhalf.facts.program.operations import is_non_blocking, operation
from nhalf.facts.program.program import Program
from nhalf.mpi.affected import Affected
from nhalf.mpi.vendors import vendor_of

OPERATIONS_MAX = 2
"""The operations that take most; a search for more would take hours."""
PROMISE_SHARE = 0.1
HYPHENATED = {"reduce_scatter": "reduce-scatter", "reduce_scatter_block": "reduce-scatter"}


class Algorithms(Source):
    """One for each algorithm of the library that suits the number of ranks."""

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """The algorithms, forced for all sizes; none without a trace."""
        library, program = situation.library, situation.program
        if library is None or program is None:
            return
        tuner = vendor_of(library).tuner(library)
        if tuner is None:
            return
        nodes = len(set(program.hosts))
        tuner.placed(lambda ranks: nodes, shares_memory=not situation.is_virtual)
        for name, calls in most_used(program).items():
            affected = Affected(operations=calls)
            for algorithm in tuner.algorithms(name):
                if not tuner.suits(name, algorithm, situation.ranks):
                    continue
                variables = tuner.force({name: algorithm})
                settings = " ".join(f"{key}={value}" for key, value in variables.items())
                yield situation.candidate(
                    f"{name} by {algorithm}",
                    f"the library's algorithm {algorithm} for every {name}: {settings}",
                    f"leave out {settings}",
                    Change(dict(variables)),
                    affected,
                    PROMISE_SHARE,
                )


def most_used(program: Program) -> dict[str, tuple[str, ...]]:
    """The operations of blocking collectives that take most time, as tuners name them, each with
    the operations of the trace that it stands for.
    """
    collectives = program.calls.filter(pl.col("kind") == "collective")
    by_call = collectives.group_by("call").agg(pl.col("time_s").sum())
    times: dict[str, float] = {}
    calls: dict[str, set[str]] = {}
    for call, time_s in by_call.iter_rows():
        if is_non_blocking(call):
            continue
        name = HYPHENATED.get(operation(call), operation(call))
        times[name] = times.get(name, 0.0) + time_s
        calls.setdefault(name, set()).add(operation(call))
    most = sorted(times, key=lambda name: (-times[name], name))[:OPERATIONS_MAX]
    return {name: tuple(sorted(calls[name])) for name in most if times[name] > 0}
