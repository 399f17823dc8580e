"""Scouting: the sizes at which curves change are found in a quick launch that is not reported."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice

from nhalf.measure.loop.question import line
from nhalf.measure.loop.records import Records
from nhalf.measure.loop.retry import FAILURES_MAX, Retries
from nhalf.measure.loop.starting import Starting
from nhalf.measure.loop.stopping import Stopping
from nhalf.measure.plan.agenda import Agenda, Family
from nhalf.measure.plan.budget import Group
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.plan.refine import refine
from nhalf.measure.plan.state import EVERYBODY, AdaptiveCurve
from nhalf.measure.probe.crew import Processes
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

        A curve that ends launches, or is thinned, keeps its coarse sizes.
        """
        for attempt in islice(self.retries.attempts(start), FAILURES_MAX):
            families = self._unknown(start)
            if not families or self.stopping.scouted_enough():
                return
            doing = "looking for protocol changes"
            with attempt, self.starting.processes(start, doing, 0) as processes:
                for family in families:
                    self.stopping.check_job()
                    sizes = self._sizes(processes, start, family)
                    # An interrupted search gives no sizes: the curve then has its coarse ones.
                    if self.stopping.scouted_enough():
                        return
                    self.records.sizes(family.curve, sizes)

    def share(self) -> None:
        """Let all subjects measure the sizes found for any of them, so that they can be compared.

        A run that already has points keeps its sizes.
        """
        if self.records.state.done or len(self.agenda.subjects) < 2:
            return
        sizes_by_curve: dict[AdaptiveCurve, dict[str, list[int]]] = {}
        for curve, sizes in self.records.state.sizes.items():
            if curve.subject != EVERYBODY:
                shared_curve = curve._replace(subject=EVERYBODY)
                sizes_by_curve.setdefault(shared_curve, {})[curve.subject] = sizes
        for curve, by_subject in sizes_by_curve.items():
            sizes = sorted({size for sizes in by_subject.values() for size in sizes})
            if self.records.state.sizes.get(curve) != sizes:
                self.records.sizes(curve, sizes)

    def _unknown(self, start: Start) -> list[Family]:
        """Return the families that may get further sizes and have none yet."""
        return [
            family
            for family in self.agenda.families(start)
            if family.adaptive
            and self.agenda.thinned[family.block].sizes == 1
            and self.records.state.sizes_of(family.curve) is None
        ]

    def _sizes(self, processes: Processes, start: Start, family: Family) -> list[int]:
        """Return the coarse sizes and those that bracket the changes between them."""
        subject, curve = self.starting.subjects[start.subject], family.curve
        info = subject.infos[curve.pattern]

        def measure(size_bytes: int) -> float | None:
            point = Point(curve.pattern, start.ranks, size_bytes, start.placement)
            if self.retries.ended(start, point) or self.stopping.scouted_enough():
                return None
            asked_s = time.monotonic()
            try:
                processes.send(line("scout", point, SLICE_S, PRECISION, info.timing))
                record = processes.receive(self.agenda.plan.timeout_s, identity="scout")
            except LaunchError as error:
                self.retries.suspect(subject, point, error)
                raise
            self.retries.answered(start)
            group = Group(family.block, start.ranks)
            self.stopping.scouted(group, time.monotonic() - asked_s, SLICE_S)
            # The fastest sample: disturbances only ever add time.
            fastest_s = min(record.get("samples_s") or [0.0])
            return fastest_s if fastest_s > 0 else None

        coarse = family.sizes
        coarse_curve = {size: time_s for size in coarse if (time_s := measure(size)) is not None}
        return list(info.sizes(tuple({*coarse, *refine(coarse_curve, measure)})))
