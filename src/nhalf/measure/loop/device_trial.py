"""Whether a library takes buffers in GPU memory, found out before anything is measured.

A library of the host reads such an address itself, which ends all of its processes. So every
library, pattern and kind of window is tried with the least message, in an extra launch. UCX, where
a library uses it, prints there by which path messages of each size go.
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
from nhalf.store.keys import parse_axes

GPU_PATHS = "gpu-paths"
"""The event with what UCX said of its paths out of GPU memory."""
FIRST = ("pingpong", "rma-put")
"""A library that one of these ends is tried with no other pattern, or not in such windows."""
Trial = tuple[str, str]
"""A pattern, and the kind of its window; '' for none, or the usual one."""
DIES = "the library does not take buffers in GPU memory"


@dataclass(frozen=True)
class DeviceTrial:
    """Tries the points of an agenda that have buffers in GPU memory, one of each pattern."""

    agenda: Agenda
    starting: Starting
    records: Records

    def refuse_what_libraries_cannot(self) -> None:
        """Record the points that a library cannot measure, with the reason."""
        reasons: dict[str, dict[Trial, str]] = {}
        for start in self.agenda.starts():
            subject = self.starting.subjects[start.subject]
            points = [p for p in self.agenda.points(start) if is_in_device_memory(p.axes)]
            points = [p for p in points if (subject.key, p) not in self.records.state.impossible]
            of_subject = reasons.setdefault(subject.key, {})
            least = {_trial(p): p for p in sorted(points, key=lambda p: p.size_bytes, reverse=True)}
            untried = [point for trial, point in least.items() if trial not in of_subject]
            untried.sort(key=lambda point: (point.pattern not in FIRST, point.pattern))
            self._try(start, subject, untried, of_subject)
            for point in points:
                if reason := of_subject[_trial(point)]:
                    self.records.impossible(subject, point, reason)

    def _try(
        self, start: Start, subject: Subject, untried: list[Point], reasons: dict[Trial, str]
    ) -> None:
        """Find out why points cannot be measured, by trial; '' if they can."""
        while untried:
            if reason := _of_first(reasons, _trial(untried[0])):
                reasons[_trial(untried.pop(0))] = reason
                continue
            has_started, support = False, ""
            try:
                with self.telling(start).processes(start, "trying GPU memory", 0) as processes:
                    has_started, support = True, processes.launch.get("gpu_support", "")
                    while untried:
                        question = line("gpu", untried[0], 0.001, 0.5, "")
                        processes.send(f"{question} verify_only=1")
                        answer = processes.receive(self.agenda.plan.timeout_s, identity="gpu")
                        reasons[_trial(untried.pop(0))] = _refusal(answer)
                    self._keep_paths(subject, getattr(processes, "tables", ()))
            except LaunchError as error:
                if not has_started:  # the measurement itself will say why
                    return reasons.update({_trial(point): "" for point in untried})
                says = f", MPIX_Query_cuda_support says {support}" if support else ""
                reasons[_trial(untried.pop(0))] = (
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
        if paths := list(map(asdict, ucx_paths.paths(lines))):
            entry = {"event": GPU_PATHS, "subject": subject.key, "paths": paths}
            self.records.journal.append(entry)


def _trial(point: Point) -> Trial:
    return point.pattern, parse_axes(point.axes).get("window", "")


def _of_first(reasons: dict[Trial, str], trial: Trial) -> str:
    """Why a first pattern, with such a window, ended the library; '' if none did."""
    ended = (reasons.get((pattern, trial[1]), "") for pattern in FIRST)
    return next((reason for reason in ended if reason.startswith(DIES)), "")


def _refusal(answer: dict[str, object]) -> str:
    """What is wrong with an answer to a trial; '' if nothing is."""
    if answer.get("nhalf") != "point":
        return str(answer.get("message", "no answer"))
    wrong = "the library moves wrong data between buffers in GPU memory"
    return "" if answer.get("verified") else wrong
