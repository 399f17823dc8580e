"""Whether a library takes buffers in GPU memory, found out before anything is measured.

A library of the host reads such an address itself, which ends all of its processes. So every
library and pattern is tried with the least message, in an extra launch. UCX, where a library uses
it, prints there by which path messages of each size go.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from msgspec.structs import asdict

from nhalf.measure.loop.records import Records, line
from nhalf.measure.loop.retry import Starting
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Point, Start
from nhalf.measure.probe.process import LaunchError
from nhalf.measure.probe.subject import Subject
from nhalf.mpi import ucx_paths
from nhalf.mpi.gpu import how_to_take_gpu_memory, is_in_device_memory

GPU_PATHS = "gpu-paths"
"""The event with what UCX said of its paths out of GPU memory."""
FIRST = "pingpong"
"""A library that this ends is tried with no other pattern."""
DIES = "the library does not take buffers in GPU memory"


@dataclass(frozen=True)
class DeviceTrial:
    """Tries the points of an agenda that have buffers in GPU memory, one of each pattern."""

    agenda: Agenda
    starting: Starting
    records: Records

    def refuse_what_libraries_cannot(self) -> None:
        """Record the points that a library cannot measure, with the reason."""
        reasons: dict[str, dict[str, str]] = {}
        for start in self.agenda.starts():
            subject = self.starting.subjects[start.subject]
            points = [
                point
                for point in self.agenda.points(start)
                if is_in_device_memory(point.axes)
                and (subject.key, point) not in self.records.state.impossible
            ]
            of_subject = reasons.setdefault(subject.key, {})
            least = {p.pattern: p for p in sorted(points, key=lambda p: p.size_bytes, reverse=True)}
            untried = [point for name, point in least.items() if name not in of_subject]
            untried.sort(key=lambda point: (point.pattern != FIRST, point.pattern))
            self._try(start, subject, untried, of_subject)
            for point in points:
                if reason := of_subject[point.pattern]:
                    self.records.impossible(subject, point, reason)

    def _try(
        self, start: Start, subject: Subject, untried: list[Point], reasons: dict[str, str]
    ) -> None:
        """Find out why patterns cannot be measured, by name; '' if they can."""
        while untried:
            if reason := _of_first(reasons):
                reasons.update({point.pattern: reason for point in untried})
                return
            has_started, support = False, ""
            try:
                with self.telling(start).processes(start, "trying GPU memory", 0) as processes:
                    has_started, support = True, processes.launch.get("gpu_support", "")
                    while untried:
                        question = line("gpu", untried[0], 0.001, 0.5, "")
                        processes.send(f"{question} verify_only=1")
                        answer = processes.receive(self.agenda.plan.timeout_s, identity="gpu")
                        reasons[untried.pop(0).pattern] = _refusal(answer)
                    self._keep_paths(subject, getattr(processes, "tables", ()))
            except LaunchError as error:
                if not has_started:  # the measurement itself will say why
                    reasons.update({point.pattern: "" for point in untried})
                    return
                died = untried.pop(0).pattern
                says = f", MPIX_Query_cuda_support says {support}" if support else ""
                reasons[died] = (
                    f"{DIES}: a message of the least size ended it ({error}{says}); "
                    f"{how_to_take_gpu_memory(subject.library)}"
                )

    def telling(self, start: Start) -> Starting:
        """Starts processes whose UCX, if they have one, tells its paths."""
        subject = self.starting.subjects[start.subject]
        if subject.library is None:
            return self.starting
        variables = {**ucx_paths.VARIABLE, **subject.library.environment}
        telling = replace(subject, library=replace(subject.library, environment=variables))
        return replace(self.starting, subjects={**self.starting.subjects, subject.key: telling})

    def _keep_paths(self, subject: Subject, lines: Iterable[str]) -> None:
        """Record the paths that UCX printed."""
        if paths := ucx_paths.paths(lines):
            entry = {"event": GPU_PATHS, "subject": subject.key}
            self.records.journal.append({**entry, "paths": list(map(asdict, paths))})


def _of_first(reasons: dict[str, str]) -> str:
    """Why the library was ended by the first pattern; '' if it was not."""
    reason = reasons.get(FIRST, "")
    return reason if reason.startswith(DIES) else ""


def _refusal(answer: dict[str, object]) -> str:
    """What is wrong with an answer to a trial; '' if nothing is."""
    if answer.get("nhalf") != "point":
        return str(answer.get("message", "no answer"))
    if not answer.get("verified"):
        return "the library moves wrong data between buffers in GPU memory"
    return ""
