"""What the front end knows of a pattern: the probe's description of it, or a stand-in's."""

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from nhalf.base import native_files
from nhalf.base.errors import MissingError
from nhalf.base.native_files import describe
from nhalf.models.npb.problems import CLASSES, problem, rank_rule
from nhalf.mpi import discover
from nhalf.mpi.probe import ready_probe
from nhalf.mpi.transport_files import TransportFile, kernels_of

ANY, POWER_OF_TWO, SQUARE, TWO_FACTORS = "any", "power-of-two", "square", "two-factors"
WORDS = {
    ANY: "any number of ranks",
    POWER_OF_TWO: "a power of two of ranks",
    SQUARE: "a square number of ranks",
    TWO_FACTORS: "x times y ranks, with y between x/2 and x",
}
"""Every rule in words."""


def allows(rule: str, ranks: int) -> bool:
    """Whether this many ranks, 1 or more, are allowed; an unknown rule allows all."""
    if rule == POWER_OF_TWO:
        return ranks & (ranks - 1) == 0
    if rule == SQUARE:
        return math.isqrt(ranks) ** 2 == ranks
    if rule == TWO_FACTORS:
        pairs = ((ranks // y, y) for y in range(1, math.isqrt(ranks) + 1) if ranks % y == 0)
        return any(2 * y >= x for x, y in pairs)
    return True


def largest(rule: str, most: int) -> list[int]:
    """Return the three largest numbers of ranks that are allowed up to `most`, 1 or more."""
    numbers = [number for number in nearby(rule, most) if number <= most]
    return numbers[-3:]


def nearby(rule: str, ranks: int) -> list[int]:
    """Return the last four allowed numbers of ranks up to the first one above `ranks`."""
    numbers: list[int] = []
    number = 0
    while not numbers or numbers[-1] <= ranks:
        number += 1
        if allows(rule, number):
            numbers.append(number)
    return numbers[-4:]


class AxisInfo(msgspec.Struct, frozen=True):
    """A further coordinate of a pattern's points.

    `values` are measured by default (measure/plan/axes.py); where the axis has its `fallback`, it
    is left out of a point's identity. `size_multiples` are those of some values.
    """

    name: str
    values: str = ""
    fallback: str = ""
    what: str = ""
    size_multiples: dict[str, int] = {}


class AlgorithmInfo(msgspec.Struct, frozen=True):
    """An algorithm of an operation, made of sends and receives of the transport.

    `cost` is its time, composed of measured parts (nhalf.models.expression); `present` is whether
    the transport can run it.
    """

    name: str
    what: str = ""
    source: str = ""
    cost: str = ""
    present: bool = True


class PatternInfo(msgspec.Struct, frozen=True):
    """One pattern of a probe.

    `present` is whether the transport can run it, `needs` what the transport lacks otherwise;
    `timing` whose clock a sample is read from; sizes are multiples of `size_multiple` bytes, and
    0 if it has none at all (not `sized`). `algorithms` are the choices of its axis `algorithm`,
    besides the library's own. `ranks_rule` restricts the number of ranks. The
    kernel of an application needs `memory_bytes`, by class, on all ranks together, and at most
    `ranks_max` ranks, by class; classes without a limit are not listed; its timed part has
    `operations`, by class, where the program describes them. `option` (NAME=VALUE) is
    an option of the transport that it requires.
    """

    name: str
    present: bool = True
    needs: str = ""
    ranks_min: int = 2
    timing: str = "first-rank"
    sized: bool = True
    size_multiple: int = 1
    option: str = ""
    axes: tuple[AxisInfo, ...] = ()
    algorithms: tuple[AlgorithmInfo, ...] = ()
    ranks_rule: str = ANY
    memory_bytes: dict[str, float] = {}
    ranks_max: dict[str, int] = {}
    operations: dict[str, float] = {}

    @property
    def ends_launch(self) -> bool:
        """Whether no other pattern can be measured after it in the same launch."""
        return self.timing == "launch-end"

    @property
    def is_kernel(self) -> bool:
        """Whether a sample is a whole run of an application, whose time cannot be chosen."""
        return bool(self.memory_bytes)

    def runs_on(self, ranks: int, problem_class: str = "") -> bool:
        """Whether it runs on this many ranks, for a problem of the class if one is named."""
        most = self.ranks_max.get(problem_class, ranks)
        return self.ranks_min <= ranks <= most and allows(self.ranks_rule, ranks)

    def sizes(self, requested_bytes: tuple[int, ...], axes: Iterable[str] = ()) -> tuple[int, ...]:
        """Return the sizes at which it is measured when `requested_bytes` are requested.

        They are the same for all of `axes`, the values of several points.
        """
        if not self.sized:
            return (0,)
        words = {word for text in axes for word in text.split(",")}
        multiples = [
            bytes_
            for axis in self.axes
            for value, bytes_ in axis.size_multiples.items()
            if f"{axis.name}={value}" in words
        ]
        multiple = max(1, self.size_multiple, *multiples)
        return tuple(sorted({-(-size // multiple) * multiple for size in requested_bytes}))


PROBES = ("probe-threads", "probe-model")
"""Probes of which every installation has one."""


def every_pattern() -> list[Mapping[str, Any]]:
    """Describe every pattern of a probe, whether or not a transport can run it.

    Raises MissingError if nothing native is installed.
    """
    return [{**pattern, "present": True} for pattern in describe([str(_probe())])["patterns"]]


def every_info() -> dict[str, PatternInfo]:
    """Every pattern of a probe by name. Raises MissingError if nothing native is installed."""
    return {info.name: info for info in msgspec.convert(every_pattern(), list[PatternInfo])}


def stand_in_description(transport: TransportFile) -> dict[str, Any]:
    """The description of the same probe on another library, else of one that has all patterns.

    Raises MissingError if neither is here.
    """
    for library in discover.libraries([]) if transport.started_by_mpi else ():
        with suppress(MissingError):
            path, _ = ready_probe(library, transport)
            if path:
                return describe([str(path)], library.environment)
    description = describe([str(_probe())])
    patterns = _kernels(transport) if transport.app else every_pattern()
    return {**description, "transport": transport.name, "patterns": patterns}


def kernel_info(
    app: str, kernel: str, classes: str, axes: tuple[AxisInfo, ...] = ()
) -> PatternInfo:
    """Return on which ranks a kernel runs, as its sources say before anything is compiled."""
    most = {name: problem(kernel, name).ranks_max for name in classes.split(",")}
    return PatternInfo(
        name=f"{app}-{kernel}",
        ranks_min=1,
        timing="slowest-rank",
        sized=False,
        axes=(AxisInfo("class", "A"), *axes),
        ranks_rule=rank_rule(kernel),
        ranks_max={name: ranks for name, ranks in most.items() if ranks},
    )


def _kernels(program: TransportFile) -> list[dict[str, Any]]:
    """The kernels of an application's program, without the memory that they need."""
    teams = (AxisInfo("threads", "1"),) if program.has_teams else ()
    grids = {"mg": (AxisInfo("barriers", "none", "none"),)} if program.started_by_mpi else {}
    return [
        msgspec.to_builtins(
            kernel_info(program.app, kernel, ",".join(CLASSES), (*teams, *grids.get(kernel, ())))
        )
        for kernel in kernels_of(program)
    ]


def _probe() -> Path:
    for name in PROBES[:-1]:
        with suppress(MissingError):
            return native_files.executable(name)
    return native_files.executable(PROBES[-1])
