"""Multicasts on a machine of record, simulated as `nhalf predict multicast` does it."""

import itertools
from collections.abc import Mapping
from functools import cache
from typing import Any

from nhalf.base.errors import InputError
from nhalf.facts.multicast import HOST_CPU, HOST_CPU_SHARE, PATTERN
from nhalf.machines import catalogue
from nhalf.machines.machine import Machine
from nhalf.measure.loop.records import line
from nhalf.measure.plan.plan import Point
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.simulate.session import multicast_subject, nodes_of
from nhalf.store.keys import axes_text, parse_axes
from nhalf.studies.form import Quantity
from nhalf.studies.value import StudyValue

TIMEOUT_S = 60.0
EXACT = 0.01
"""The precision asked for: a simulator is exact."""
TIME = "time_s"
USUAL = {"algorithm": "separate", "forwarding": "host"}
"""The axes that say who forwards to whom, and what makes the copies; with their usual values."""
Way = tuple[str, ...]


def multicast_value(machine: Machine, quantity: Quantity) -> StudyValue:
    """The completion of a multicast to nodes of a machine, or a result that it has beside that.

    Raises InputError if it has none, or cannot be simulated on its network; MissingError if
    the simulator is not there.
    """
    ranks = min(quantity.ranks, nodes_of(machine))
    axes = {**USUAL, **quantity.axis_values(ranks)}
    way = tuple(axes.pop(name) for name in USUAL)
    answers = _simulated(
        machine.name, Point(PATTERN, ranks, quantity.size_bytes, axes=axes_text(axes))
    )
    answer = answers.get(way, f"{machine.name} has no {PATTERN} {', '.join(way)}")
    if isinstance(answer, str):
        raise InputError(answer)
    name = quantity.extra or TIME
    if name not in answer:
        raise InputError(f"a simulated {PATTERN} has no {name}")
    time = StudyValue(answer[name], ranks=ranks, origin="simulated")
    return time.inverse(quantity.size_bytes) if quantity.figure == "rate" else time


@cache
def _simulated(name: str, point: Point) -> Mapping[Way, Mapping[str, float] | str]:
    """All values by name of every way to multicast, or why there are none.

    All ways are asked of one process: starting it takes longer than its answers.
    """
    answers: dict[Way, Mapping[str, float] | str] = {}
    try:
        subject = multicast_subject(catalogue.machine(name))
        info = subject.infos[PATTERN]
        choices = [axis.values.split(",") for axis in info.axes if axis.name in USUAL]
        with Probe([*subject.command, "--ranks", str(point.ranks)], {}, TIMEOUT_S) as processes:
            for number, way in enumerate(itertools.product(*choices)):
                values = {**parse_axes(point.axes), **dict(zip(USUAL, way, strict=True))}
                single = point._replace(axes=axes_text(values))
                processes.send(line(str(number), single, 0.0, EXACT, info.timing))
                answers[way] = _values(processes.receive(TIMEOUT_S, identity=str(number)))
    except LaunchError as error:
        raise InputError(f"the simulator failed: {error}") from error
    return answers


def _values(answer: Mapping[str, Any]) -> Mapping[str, float] | str:
    """The values of one multicast, its completion among them; the error if it is one."""
    if answer.get("nhalf") != "point":
        return str(answer.get("message", "the simulator has no answer"))
    (time_s,) = answer["samples_s"]
    values = {TIME: float(time_s), **answer["values"]}
    return values | {HOST_CPU_SHARE: values[HOST_CPU] / values[TIME]}
