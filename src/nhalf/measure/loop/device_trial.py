"""Whether a library takes buffers in GPU memory, found out before anything is measured.

A library of the host reads such an address itself, which ends all of its processes. So every
library and pattern is tried with the least message, in an extra launch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.measure.loop.records import Records, line
from nhalf.measure.loop.retry import Starting
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.probe.process import LaunchError
from nhalf.measure.probe.subject import Subject
from nhalf.mpi.gpu import how_to_take_gpu_memory, is_in_device_memory

FIRST = "pingpong"
"""A library that fails here is tried with no other pattern."""


@dataclass(frozen=True)
class DeviceTrial:
    """Tries the points of an agenda that have buffers in GPU memory, one of each pattern."""

    agenda: Agenda
    starting: Starting
    records: Records

    def refuse_what_libraries_cannot(self) -> None:
        """Record the points that a library cannot measure, with the reason."""
        for start in self._starts():
            subject = self.starting.subjects[start.subject]
            points = self._points(start.subject)
            patterns = sorted({p.pattern for p in points}, key=lambda name: (name != FIRST, name))
            refused = self._refused(start, subject, patterns)
            for point in points:
                if reason := refused.get(point.pattern):
                    self.records.impossible(subject, point, reason)

    def _starts(self) -> list[Start]:
        """The first start of every subject that has such points."""
        firsts: dict[str, Start] = {}
        for start in self.agenda.starts():
            if any(is_in_device_memory(point.axes) for point in self.agenda.points(start)):
                firsts.setdefault(start.subject, start)
        return list(firsts.values())

    def _points(self, key: str) -> list[Point]:
        return [
            point
            for start in self.agenda.starts()
            if start.subject == key
            for point in self.agenda.points(start)
            if is_in_device_memory(point.axes) and (key, point) not in self.records.state.impossible
        ]

    def _refused(self, start: Start, subject: Subject, patterns: Sequence[str]) -> dict[str, str]:
        """Why patterns cannot be measured, by name."""
        refused: dict[str, str] = {}
        untried = list(patterns)
        while untried:
            try:
                with self.starting.processes(start, "trying GPU memory", 0) as processes:
                    while untried:
                        size_bytes = min(subject.infos[untried[0]].sizes((1,)))
                        point = Point(untried[0], start.ranks, size_bytes, start.placement)
                        question = line("gpu", point, 0.001, 0.5, "")
                        processes.send(f"{question} axis.memory=device verify_only=1")
                        answer = processes.receive(self.agenda.plan.timeout_s, identity="gpu")
                        if reason := _refusal(answer):
                            refused[untried[0]] = reason
                        untried.pop(0)
            except LaunchError as error:
                name = untried.pop(0)
                refused[name] = (
                    f"the library does not take buffers in GPU memory: a message of the least size "
                    f"ended it ({error}); {how_to_take_gpu_memory(subject.library)}"
                )
                if name == FIRST:
                    return refused | dict.fromkeys(untried, refused[name])
        return refused


def _refusal(answer: dict[str, object]) -> str:
    """What is wrong with an answer to a trial; '' if nothing is."""
    if answer.get("nhalf") != "point":
        return str(answer.get("message", "no answer"))
    if not answer.get("verified"):
        return "the library moves wrong data between buffers in GPU memory"
    return ""
