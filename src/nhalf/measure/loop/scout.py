# SPDX-License-Identifier: Apache-2.0
"""Scouting: the sizes at which curves change are found in a quick launch that is not reported."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from nhalf.measure.loop.question import line
from nhalf.measure.loop.records import Records
from nhalf.measure.loop.retry import FAILURES_MAX, Retries
from nhalf.measure.loop.starting import Processes, Starting
from nhalf.measure.loop.stopping import Stopping
from nhalf.measure.plan.agenda import Agenda, Family
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.plan.refine import refine
from nhalf.measure.probe.process import LaunchError

SLICE_S = 0.004
PRECISION = 0.02


@dataclass(frozen=True)
class Scout:
    """Chooses sizes for the curves that may have more."""

    agenda: Agenda
    stopping: Stopping
    retries: Retries
    starting: Starting
    records: Records

    def look(self, start: Start) -> None:
        """Find the sizes at which the curves of a start change.

        Where launches end at it, the curve keeps its coarse sizes; so it does where it is thinned.
        """
        for attempt in islice(self.retries.attempts(start), FAILURES_MAX):
            families = self._unknown(start)
            if not families or self.stopping.scouted_enough():
                return
            doing = "looking for protocol changes"
            with attempt, self.starting.processes(start, doing, 0) as processes:
                for family in families:
                    if self.stopping.scouted_enough():
                        break
                    self.stopping.check_job()
                    self.records.sizes(family.curve, self._sizes(processes, start, family))

    def _unknown(self, start: Start) -> list[Family]:
        """What may have further sizes, and has none yet."""
        return [
            family
            for family in self.agenda.families(start)
            if family.adaptive
            and self.agenda.thinned[family.block].sizes == 1
            and self.records.state.sizes_of(family.curve) is None
        ]

    def _sizes(self, processes: Processes, start: Start, family: Family) -> list[int]:
        """The coarse sizes and those that bracket the changes between them."""
        subject, curve = self.starting.subjects[start.subject], family.curve
        info = subject.infos[curve.pattern]

        def measure(size_bytes: int) -> float | None:
            point = Point(curve.pattern, start.ranks, size_bytes, start.placement)
            if self.retries.ended(start, point):
                return None
            try:
                processes.send(line("scout", point, SLICE_S, PRECISION, info.timing))
                said = processes.receive(self.agenda.plan.timeout_s, identity="scout")
            except LaunchError as error:
                self.retries.suspect(subject, point, error)
                raise
            self.retries.answered(start)
            # The fastest sample: disturbances only ever add time.
            fastest_s = min(said.get("samples_s") or [0.0])
            return fastest_s if fastest_s > 0 else None

        coarse = family.sizes
        found = {size: time_s for size in coarse if (time_s := measure(size)) is not None}
        return list(info.sizes(tuple({*coarse, *refine(found, measure)})))
