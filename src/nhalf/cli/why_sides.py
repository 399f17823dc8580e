"""The two sides of `nhalf why` as its options and words name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nhalf.base.errors import InputError

if TYPE_CHECKING:
    from nhalf.experiment.why.switch import Ways
    from nhalf.mpi.launch_script import LaunchScript

HOW = "give two runs, two scripts, or --a 'COMMAND' --b 'COMMAND'"


class SidesRequest(Protocol):
    """A request that names two sides."""

    @property
    def sides(self) -> Sequence[Path]:
        """Runs, traces or scripts."""

    @property
    def a(self) -> str:
        """The command line of A, '' without one."""

    @property
    def b(self) -> str:
        """The command line of B, '' without one."""

    @property
    def seconds(self) -> str:
        """A pattern of the output, '' for the wall clock."""

    @property
    def least_share(self) -> float:
        """Differences below this share count as none."""

    @property
    def timeout(self) -> str:
        """The longest time of a launch."""


def ways_of(request: SidesRequest) -> Ways:
    """Two sides, ready for the search. Raises InputError unless there are two of a kind."""
    from nhalf.cli.run_side import names_run

    places = list(request.sides)
    if len(places) + bool(request.a) + bool(request.b) != 2:
        raise InputError("two sides are needed", HOW)
    are_runs = [names_run(str(place)) for place in places]
    if any(are_runs):
        if not all(are_runs) or len(places) != 2:
            raise InputError("a run can only be mixed with a run", HOW)
        return _run_ways(request, *places)
    return _command_ways(request, places)


def _run_ways(request: SidesRequest, a: Path, b: Path) -> Ways:
    from nhalf.cli.run_side import run_and_library
    from nhalf.experiment.why.sides.runs import run_ways

    if request.seconds:
        raise InputError("--seconds is for commands; runs have times of their own", "leave it out")
    return run_ways(run_and_library(a), run_and_library(b), request.least_share)


def _command_ways(request: SidesRequest, places: Sequence[Path]) -> Ways:
    from nhalf.base.units import parse_duration
    from nhalf.experiment.why.sides.commands import (
        CommandTiming,
        command_ways,
        recorded_differences,
        script_of,
    )
    from nhalf.measure.traced.tables import is_trace, open_trace
    from nhalf.mpi.discover import libraries
    from nhalf.mpi.launch_script import parse_script

    waiting = iter(places)

    def side(text: str, name: str) -> LaunchScript:
        return parse_script(text, name) if text else script_of(next(waiting))

    a, b = side(request.a, "--a"), side(request.b, "--b")
    timing = CommandTiming(request.seconds, parse_duration(request.timeout))
    ways = command_ways(a, b, timing, libraries())
    if len(places) == 2 and all(map(is_trace, places)):
        traces = [open_trace(place).trace for place in places]
        ways = replace(ways, not_tried=recorded_differences(*traces))
    return ways
