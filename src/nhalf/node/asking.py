"""A core that is measured point by point; each answer is in the journal before it is used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nhalf.base import native_files
from nhalf.base.describe import describe
from nhalf.measure.loop.records import ProbeAnswer, Records
from nhalf.measure.plan.plan import Point
from nhalf.measure.probe.subject import Processes, Subject
from nhalf.node.reading import TRANSPORT, Reading, reading
from nhalf.store.keys import axes_text

PROGRAM = "node-probe"
TIMEOUT_S = 60.0
PLACEMENT = "cores"


def node_subject() -> Subject:
    """The probe of one core; raises MissingError if it was not built."""
    command = [str(native_files.executable(PROGRAM))]
    return Subject(TRANSPORT, tuple(command), describe(command))


@dataclass
class CoreProbe:
    """One launch of the probe on one core; `readings` are all answers so far."""

    processes: Processes
    subject: Subject
    records: Records
    launch: int
    readings: list[Reading] = field(default_factory=list)
    _reading_by_point: dict[str, Reading] = field(default_factory=dict)

    def ask(self, pattern: str, size_bytes: int, **axes: object) -> Reading | None:
        """Measure a point unless it was measured before; None if it cannot be measured."""
        texts = {
            name: str(value)
            for name, value in axes.items()
            if str(value) != self.fallback(pattern, name)
        }
        key = f"{pattern} {size_bytes} {axes_text(texts)}"
        if key in self._reading_by_point:
            return self._reading_by_point[key]
        point = Point(pattern, 1, size_bytes, PLACEMENT, axes_text(texts))
        position = len(self.readings)
        answer = self._answer(position, point)
        self.records.point(self.subject, self.launch, ProbeAnswer(position, point, answer), [])
        if answer.get("nhalf") != "point" or not answer["verified"]:
            return None
        values: dict[str, Any] = answer["values"]
        point_reading = reading(
            pattern, size_bytes, texts, self.launch, answer["samples_s"], values
        )
        self._reading_by_point[key] = point_reading
        self.readings.append(point_reading)
        return point_reading

    def fallback(self, pattern: str, axis: str) -> str:
        """The value with which an axis is left out of a point, as the probe describes it."""
        axes = self.subject.infos[pattern].axes
        return next(info.fallback for info in axes if info.name == axis)

    def _answer(self, position: int, point: Point) -> dict[str, Any]:
        axes = "".join(f" axis.{part}" for part in point.axes.split(",") if part)
        identity = str(position)
        self.processes.send(f"id={identity} pattern={point.pattern} bytes={point.size_bytes}{axes}")
        return self.processes.receive(TIMEOUT_S, identity=identity)
