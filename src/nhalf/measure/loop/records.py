# SPDX-License-Identifier: Apache-2.0
"""Keeping what was measured: into the journal, then into what is known, then before the user."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import asdict

from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.algorithm import split
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.plan.state import Curve, State
from nhalf.measure.probe.subject import Subject
from nhalf.store.journal import Journal
from nhalf.store.record import Identity, Record, event, named_values


@dataclass(frozen=True)
class Answer:
    """What a probe said of a point, and at which position of its launch."""

    position: int
    point: Point
    said: dict[str, Any]


@dataclass(frozen=True)
class Records:
    """Writes the events of a run, each before anybody hears of it."""

    journal: Journal
    state: State
    progress: Progress

    def planned(self, points: int) -> None:
        """Tell how many points are to come."""
        if points:
            self.journal.append({"event": "planned", "points": points})
        self.progress.total(points)

    def launch(self, start: Start, launch: int, said: dict[str, Any], advice: list[str]) -> None:
        """Note a launch and where its ranks are, as the probe `said` when it began."""
        self.journal.append(
            {
                "event": "launch",
                "subject": start.subject,
                "launch": launch,
                "ranks": start.ranks,
                "asked_placement": start.placement,
                "library": said.get("library", ""),
                "clock": said.get("clock", {}),
                "placement": said.get("placement", []),
                "advice": advice,
            }
        )

    def sizes(self, curve: Curve, sizes: list[int]) -> None:
        """Note the sizes that were found for a curve."""
        self.state.sizes[curve] = sizes
        self.journal.append({"event": "sizes", **curve._asdict(), "sizes": sizes})

    def point(self, subject: Subject, launch: int, answer: Answer, advice: Sequence[str]) -> None:
        """Keep the answer for a point with the doubts of its launch, or that it was refused."""
        said = answer.said
        if said.get("nhalf") != "point":
            self.impossible(subject, answer.point, str(said.get("message", "no answer")))
            return
        record = Record(
            **asdict(identity(subject, answer.point)),
            launch=launch,
            position=answer.position,
            started_s=time.time() - said["elapsed_s"],
            batch=said["batch"],
            messages_per_round=said["messages_per_round"],
            bytes_per_time=said["bytes_per_time"],
            stop=said["stop"],
            verified=said["verified"],
            advice=sorted({*said["advice"], *advice}),
            samples_s=said["samples_s"],
            rank_s=said.get("rank_s", []),
            values=named_values(said.get("values", {})),
        )
        self.journal.append(event("point", subject.key, record))
        values = said.get("values", {})
        self.state.measured(subject.key, launch, answer.point, record.samples_s, values)
        self.progress.point(subject.title, answer.point, record.samples_s)

    def impossible(self, subject: Subject, point: Point, reason: str) -> None:
        """Note a point that this subject cannot measure."""
        self.state.impossible.add((subject.key, point))
        failed = event("failed", subject.key, identity(subject, point))
        self.journal.append({**failed, "reason": reason})

    def dead(self, host: str, reason: str) -> None:
        """Note a host that died."""
        self.state.dead[host] = reason
        self.journal.append({"event": "host", "host": host, "reason": reason})


def identity(subject: Subject, point: Point) -> Identity:
    """What identifies a point, as the store has it."""
    algorithm, axes = split(subject.infos[point.pattern], point.axes)
    return Identity(
        transport=subject.transport,
        mpi=subject.mpi,
        pattern=point.pattern,
        algorithm=algorithm,
        ranks=point.ranks,
        placement=point.placement,
        axes=axes,
        bytes=point.size_bytes,
    )
