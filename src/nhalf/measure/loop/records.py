"""Questions to a probe, and their answers: in the journal, in the state, on the progress bar."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import asdict

from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.axes import split
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.plan.state import AdaptiveCurve, RunState
from nhalf.measure.probe.subject import Subject
from nhalf.store.journal import Journal
from nhalf.store.record import PointIdentity, Record, event, named_values
from nhalf.store.run import OTHERS, Others

SHORT_SLICE_S = 0.005
"""Within shorter slices, operations that are timed one by one are sampled only three times."""


def line(
    identity: str, point: Point, slice_s: float, precision: float, timing: str, visits: int = 1
) -> str:
    """Return the request for a visit to a point, of `visits` in the launch, as the probe reads it.

    The probe's own minimum number of samples would take operations that are timed one by one far
    beyond a short slice.
    """
    axes = "".join(f" axis.{part}" for part in point.axes.split(",") if part)
    share = f" visits={visits}" if visits > 1 else ""
    few = " samples_min=3" if timing != "first-rank" and slice_s < SHORT_SLICE_S else ""
    return (
        f"id={identity} pattern={point.pattern} bytes={point.size_bytes} "
        f"slice_s={slice_s:.6f} precision={precision:.6f}{share}{few}{axes}"
    )


@dataclass(frozen=True)
class ProbeAnswer:
    """The probe's record for a point, and the point's position in its launch."""

    position: int
    point: Point
    record: dict[str, Any]


@dataclass(frozen=True)
class Records:
    """Writes the events of a run, each before it takes effect anywhere else."""

    journal: Journal
    state: RunState
    progress: Progress
    gpus: dict[tuple[str, int], list[str]] = field(default_factory=dict)

    def planned(self, points: int) -> None:
        """Record how many points are still to come."""
        if points:
            self.journal.append({"event": "planned", "points": points})
        self.progress.total(points)

    def launch(self, start: Start, launch: int, opening: dict[str, Any], advice: list[str]) -> None:
        """Record a launch, where its ranks are and how long they took to start.

        `opening` is the probe's record, with `start_s`.
        """
        self.journal.append(
            {
                "event": "launch",
                "subject": start.subject,
                "launch": launch,
                "ranks": start.ranks,
                "asked_placement": start.placement,
                "library": opening.get("library", ""),
                "variables": opening.get("variables", {}),
                "clock": opening.get("clock", {}),
                "placement": opening.get("placement", []),
                "advice": advice,
                "start_s": opening.get("start_s"),
            }
        )

    def others(self, start: Start, launch: int, cores: float, allowed: int) -> None:
        """Record how many of the `allowed` cores others kept busy during a launch."""
        entry = Others(start.subject, launch, start.ranks, round(cores, 3), allowed)
        self.journal.append({"event": OTHERS, **asdict(entry)})

    def sizes(self, curve: AdaptiveCurve, sizes: list[int]) -> None:
        """Record the sizes that were chosen for a curve."""
        self.state.sizes[curve] = sizes
        self.journal.append({"event": "sizes", **curve._asdict(), "sizes": sizes})

    def point(
        self, subject: Subject, launch: int, answer: ProbeAnswer, advice: Sequence[str]
    ) -> None:
        """Record the answer for a point with the warnings of its launch, or its refusal."""
        reply = answer.record
        if reply.get("nhalf") != "point":
            self.impossible(subject, answer.point, str(reply.get("message", "no answer")))
            return
        gpus = reply.get("gpus", [])
        if any(gpus) and self.gpus.get((subject.key, launch)) != gpus:
            # Once in a launch, the GPU of every rank by its PCI address; '' without one.
            self.gpus[subject.key, launch] = gpus
            entry = {"event": "gpus", "subject": subject.key, "launch": launch, "gpus": gpus}
            self.journal.append(entry)
        stored_record = Record(
            **asdict(identity(subject, answer.point)),
            launch=launch,
            position=answer.position,
            started_s=time.time() - reply["elapsed_s"],
            batch=reply["batch"],
            messages_per_round=reply["messages_per_round"],
            bytes_per_time=reply["bytes_per_time"],
            stop=reply["stop"],
            verified=reply["verified"],
            advice=sorted({*reply["advice"], *advice}),
            samples_s=reply["samples_s"],
            rank_s=reply.get("rank_s", []),
            values=named_values(reply.get("values", {})),
        )
        self.journal.append(event("point", subject.key, stored_record))
        values = reply.get("values", {})
        is_further_visit = (subject.key, launch, answer.point) in self.state.done
        self.state.measured(subject.key, launch, answer.point, stored_record.samples_s, values)
        if not is_further_visit:
            self.progress.point(subject.title, answer.point, stored_record.samples_s)

    def impossible(self, subject: Subject, point: Point, reason: str) -> None:
        """Record a point that this subject cannot measure."""
        self.state.impossible.add((subject.key, point))
        failed = event("failed", subject.key, identity(subject, point))
        self.journal.append({**failed, "reason": reason})

    def dead(self, host: str, reason: str) -> None:
        """Record a host that died."""
        self.state.dead[host] = reason
        self.journal.append({"event": "host", "host": host, "reason": reason})


def identity(subject: Subject, point: Point) -> PointIdentity:
    """Return the identity of a point, as the store has it."""
    algorithm, axes = split(subject.infos[point.pattern], point.axes)
    return PointIdentity(
        transport=subject.transport,
        mpi=subject.mpi,
        pattern=point.pattern,
        algorithm=algorithm,
        ranks=point.ranks,
        placement=point.placement,
        axes=axes,
        bytes=point.size_bytes,
    )
