"""Waiting, charged to who caused it.

While a rank waits for another, each second is charged to what that one does at that moment: it
computes, or is busy in MPI. If it waits itself, the second goes on to whom it waits for, and so on
to a rank that does not wait. So a delay that runs along a chain of ranks is charged to its root,
as Boehme et al. do (Identifying the root causes of wait states in large-scale parallel
applications, 2016); they compare the ranks' work since they last met, which needs a program's
regions. All waiting is charged once.
"""

from collections import defaultdict

import numpy as np
import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.critical_path import own_times
from nhalf.facts.program.disturbance import NOBODY, queued
from nhalf.facts.program.program import Program
from nhalf.facts.program.waits import waits

Charge = tuple[float, float, int]
"""A span of time, and how many ranks waited for this one meanwhile, directly or not."""


@fact
def delays(program: Program) -> pl.DataFrame:
    """The waiting that each rank caused: columns `rank`, `computing_s`, `in_mpi_s` and `taken_s`
    (what it did meanwhile: others had its processor for the last), and `waiting_s`, their sum; the
    most first.
    """
    charges = _Sweep(program.ranks).run(waits(program))
    between_calls, in_calls = queued(program, in_call=False), queued(program, in_call=True)
    rows = []
    for rank, own in own_times(program).items():
        spans = np.array(charges.get(rank, ()), float).reshape(-1, 3)
        whole_s = spans[:, 1] - spans[:, 0]
        in_mpi_s = own.in_mpi_until_s(spans[:, 1]) - own.in_mpi_until_s(spans[:, 0])
        # Before its begin a rank is in MPI_Init.
        in_mpi_s += np.clip(own.begin_s - spans[:, 0], 0.0, whole_s)
        caused_s = float(whole_s @ spans[:, 2])
        caused_in_mpi_s = float(in_mpi_s @ spans[:, 2])
        computing_s = caused_s - caused_in_mpi_s
        computing_taken_s, in_mpi_taken_s = (
            min(most_s, float(spent.parts_s(spans[:, 0], spans[:, 1]) @ spans[:, 2]))
            for spent, most_s in (
                (between_calls.get(rank, NOBODY), computing_s),
                (in_calls.get(rank, NOBODY), caused_in_mpi_s),
            )
        )
        taken_s = computing_taken_s + in_mpi_taken_s
        own_s = (computing_s - computing_taken_s, caused_in_mpi_s - in_mpi_taken_s)
        rows.append((rank, *own_s, taken_s, caused_s))
    schema = {
        "rank": pl.Int32(),
        "computing_s": pl.Float64(),
        "in_mpi_s": pl.Float64(),
        "taken_s": pl.Float64(),
        "waiting_s": pl.Float64(),
    }
    frame = pl.DataFrame(rows, schema, orient="row")
    return frame.sort("waiting_s", "rank", descending=[True, False])


class _Sweep:
    """Waits in the order of time: how many ranks depend on each one."""

    def __init__(self, ranks: int) -> None:
        self._holder = [-1] * ranks
        """For whom each rank waits, -1 if it does not."""
        self._dependent = [0] * ranks
        self._since_s = [0.0] * ranks
        self._charges: dict[int, list[Charge]] = defaultdict(list)

    def run(self, all_waits: pl.DataFrame) -> dict[int, list[Charge]]:
        """Spans of time of each rank in which others waited for it while it did not."""
        events: list[tuple[float, int, int, int]] = []
        for rank, late_rank, from_s, to_s in all_waits.select(
            "rank", "late_rank", "from_s", "to_s"
        ).iter_rows():
            events += [(from_s, 1, rank, late_rank), (to_s, 0, rank, late_rank)]
        # Waits that end do so before others begin at the same moment.
        for moment_s, begins, rank, late_rank in sorted(events):
            if begins:
                self._begin(rank, late_rank, moment_s)
            else:
                self._end(rank, moment_s)
        return self._charges

    def _begin(self, rank: int, late_rank: int, now_s: float) -> None:
        chain = self._chain(late_rank)
        # Clocks that are apart may show two ranks that wait for each other.
        if rank in chain:
            return
        self._flush(rank, now_s)
        self._holder[rank] = late_rank
        self._add(chain, 1 + self._dependent[rank], now_s)

    def _end(self, rank: int, now_s: float) -> None:
        if self._holder[rank] < 0:
            return
        self._add(self._chain(self._holder[rank]), -1 - self._dependent[rank], now_s)
        self._holder[rank] = -1
        self._since_s[rank] = now_s

    def _chain(self, rank: int) -> list[int]:
        """A rank, whom it waits for, and so on."""
        chain = [rank]
        while (rank := self._holder[rank]) >= 0:
            chain.append(rank)
        return chain

    def _add(self, chain: list[int], number: int, now_s: float) -> None:
        for rank in chain:
            self._flush(rank, now_s)
            self._dependent[rank] += number

    def _flush(self, rank: int, now_s: float) -> None:
        """Charge a rank for the time since its last event, if it did not wait itself."""
        if self._holder[rank] < 0 and self._dependent[rank] > 0 and now_s > self._since_s[rank]:
            self._charges[rank].append((self._since_s[rank], now_s, self._dependent[rank]))
        self._since_s[rank] = now_s
