"""The time of a pattern on a machine, the fastest algorithm, and the crossings.

A fitted model of an algorithm takes precedence if the machine has one; otherwise its cost is
composed of the machine's parts (machines/parts.py), never of its own timing. The library's own
algorithm (`native`) has published or fitted times.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError, unknown
from nhalf.base.numbers import percent
from nhalf.base.units import format_size
from nhalf.decide.choice import AlgorithmChoice
from nhalf.decide.criteria import CAVEATS, kept_ways
from nhalf.decide.way import PartOf, Seconds, Way
from nhalf.decide.ways import COMPLETION, FOLLOWED, UNSIZED, known_ways
from nhalf.machines.algorithms import Algorithm
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.models.expression import PART_BYTES
from nhalf.mpi.decision_table import NATIVE

Cell = tuple[int, int, int]
"""The numbers of a way, of a number of ranks and of a size."""
CLOSE = 4
"""Ratio of two sizes up to which the best parts in between are like those at either."""

TIE = 1e-6
"""Times that differ by less are equal: networks count in picoseconds."""


class AlgorithmCrossover(msgspec.Struct, frozen=True, rename={"size_bytes": "bytes"}):
    """A change of the fastest algorithm: on `ranks` ranks, from `size_bytes` on."""

    ranks: int
    size_bytes: int
    before: str
    after: str


@dataclass(frozen=True)
class Prediction:
    """Seconds of every way in every cell: `time_s` (ways, ranks, sizes), NaN if none is known.

    `part_bytes` are the bytes of a part by way, number of ranks and size (indices), where messages
    are cut. `ends_by_ratio` are the factors from the ways' times to the ends of their intervals,
    None where no error is known, and `calibration` says what widened them. `missing` says why ways
    lack a time in a cell; `extrapolated` (ways, ranks, sizes) marks times beyond the known range.
    `intervals_s` are those of cells (indices) with numbers known as ranges.
    """

    pattern: str
    machine: str
    ranks: tuple[int, ...]
    size_bytes: tuple[int, ...]
    ways: tuple[Way, ...]
    time_s: Floats
    crossovers: tuple[AlgorithmCrossover, ...]
    missing: tuple[str, ...]
    extrapolated: NDArray[np.bool_]
    caveat: str = ""
    ends_by_ratio: tuple[float | None, ...] = ()
    calibration: tuple[str, ...] = ()
    part_bytes: Mapping[Cell, int] = field(default_factory=dict)
    intervals_s: Mapping[Cell, tuple[float, float]] = field(default_factory=dict)
    criterion: str = COMPLETION

    def interval_s(self, cell: Cell) -> tuple[float, float] | None:
        """The interval of the time in a cell; None if nothing is known of its error."""
        ratio = self.ends_by_ratio[cell[0]] if self.ends_by_ratio else None
        drawn_s = self.intervals_s.get(cell)
        if ratio is None:
            return drawn_s
        time_s = float(self.time_s[cell])
        low, high = drawn_s or (time_s, time_s)
        return min(low, time_s / ratio), max(high, time_s * ratio)

    @property
    def notes(self) -> list[str]:
        """Sentences on missing and extrapolated times, and on machines without such messages."""
        count = int((self.extrapolated & ~np.isnan(self.time_s)).sum())
        words = f"{count} of the times are extrapolated beyond what was measured or published"
        caveats = [self.caveat] if self.caveat else []
        caveats += [way.basis for way in self.ways if way.basis]
        return [*caveats, *self.calibration, *self.missing, *([words] if count else [])]

    @property
    def has_native(self) -> bool:
        """Whether the machine's own operation, or the library's, is one of the ways."""
        return any(way.algorithm == NATIVE for way in self.ways)

    def best(self) -> list[list[str]]:
        """The fastest algorithm by number of ranks and size; ties go to the first."""
        return [[self.ways[way].algorithm for way in row] for row in self._fastest()]

    def best_parts(self) -> list[list[int | None]]:
        """The size of a part of the fastest algorithm by number of ranks and size."""
        return [
            [self.part_bytes.get((int(way), i, j)) for j, way in enumerate(row)]
            for i, row in enumerate(self._fastest())
        ]

    def _fastest(self) -> NDArray[np.intp]:
        """The number of the fastest way by number of ranks and size."""
        times_s = np.nan_to_num(self.time_s, nan=np.inf)
        fastest: NDArray[np.intp] = (times_s <= times_s.min(axis=0) * (1 + TIE)).argmax(axis=0)
        return fastest

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf predict --json`."""
        cells = [(i, j) for i in range(len(self.ranks)) for j in range(len(self.size_bytes))]
        best, best_parts = self.best(), self.best_parts()
        return {
            "pattern": self.pattern,
            "machine": self.machine,
            "for": self.criterion,
            "rows": [
                {
                    "algorithm": way.algorithm,
                    "ranks": self.ranks[i],
                    "bytes": self.size_bytes[j],
                    "part_bytes": self.part_bytes.get((k, i, j)),
                    "time_s": float(self.time_s[k, i, j]),
                    "interval_s": self.interval_s((k, i, j)),
                    "extrapolated": bool(self.extrapolated[k, i, j]),
                }
                for i, j in cells
                for k, way in enumerate(self.ways)
                if not np.isnan(self.time_s[k, i, j])
            ],
            "best": [
                {
                    "ranks": self.ranks[i],
                    "bytes": self.size_bytes[j],
                    "algorithm": best[i][j],
                    "part_bytes": best_parts[i][j],
                }
                for i, j in cells
            ],
            "crossovers": msgspec.to_builtins(self.crossovers),
            "sources": {way.algorithm: way.source for way in self.ways},
            "notes": self.notes,
        }


def predict(
    pattern_or_algorithm: str,
    of: Machine | Messages,
    ranks: Sequence[int],
    sizes: Sequence[int],
    algorithms: Mapping[str, Sequence[Algorithm]],
    *,
    extrapolate: bool = False,
    part_bytes: int | None = None,
    criterion: str = COMPLETION,
) -> Prediction:
    """Times of a pattern ('bcast'), or of one of its algorithms ('bcast/binomial').

    They are those of a machine, or of its messages by one library. `algorithms` are by operation.
    Those that cut messages do so every `part_bytes`; None: wherever that is the fastest. By other
    criteria than completion it is for how long they keep the root, or all ranks, with parts of the
    usual size if none is given. Raises InputError for an unknown pattern or criterion, and if no
    cell can be predicted.
    """
    pattern, _, algorithm = pattern_or_algorithm.partition("/")
    messages = of if isinstance(of, Messages) else Messages(of)
    machine, is_completion = messages.machine, criterion == COMPLETION
    cut_bytes = part_bytes or PART_BYTES
    if is_completion:
        ways = known_ways(pattern, messages, algorithms, extrapolate, part_bytes)
    else:
        ways = kept_ways(criterion, pattern, messages, algorithms, extrapolate, cut_bytes)
    prediction = predicted(pattern, machine.name, ranks, sizes, _chosen(ways, pattern, algorithm))
    if is_completion:
        return replace(prediction, caveat=message_caveat(machine, prediction))
    caveat = CAVEATS[criterion].format(parts=cut_bytes)
    return replace(prediction, caveat=caveat, criterion=criterion)


def message_caveat(machine: Machine, prediction: Prediction) -> str:
    """State that times are composed of messages where the machine's own are not; '' if they are.

    Nothing is to be said of messages themselves, and where the machine's own operation is there.
    """
    is_composed = any(way.is_composed and way.algorithm != FOLLOWED for way in prediction.ways)
    if not machine.collectives_by or not is_composed or prediction.has_native:
        return ""
    return (
        f"composed of messages, as a portable library does it; those of {machine.name} are not, "
        f"and may be many times faster: {machine.collectives_by}"
    )


def predicted(
    pattern: str, machine: str, ranks: Sequence[int], sizes: Sequence[int], ways: Sequence[Way]
) -> Prediction:
    """The times of some ways in every cell; raises InputError if a cell has none."""
    sizes = [0] if pattern in UNSIZED else sorted(set(sizes))
    ranks = sorted(set(ranks))
    if ranks[0] < 2:
        raise InputError("one rank alone sends no messages", "ask for 2 ranks or more")
    time_s = np.full((len(ways), len(ranks), len(sizes)), np.nan)
    reasons: dict[str, None] = {}
    parts: dict[Cell, int] = {}
    intervals: dict[Cell, tuple[float, float]] = {}
    for k, way in enumerate(ways):
        for i, p in enumerate(ranks):
            for j, n in enumerate(sizes):
                try:
                    time_s[k, i, j] = way.time_s(p, n)
                    if (part_bytes := way.part_bytes(p, n)) is not None:
                        parts[k, i, j] = part_bytes
                    if way.interval_s is not None:
                        intervals[k, i, j] = way.interval_s(p, n)
                except InputError as error:
                    reasons[f"{way.algorithm}: {error.message}"] = None
    nothing = np.argwhere(np.isnan(time_s).all(axis=0))
    if nothing.size:
        i, j = nothing[0]
        reason = f": {next(iter(reasons))}" if reasons else ""
        raise InputError(
            f"{machine} has no data on {pattern} of {format_size(sizes[j])} on {ranks[i]} ranks"
            f"{reason}",
            "choose measured ranks and sizes, or allow others with --extrapolate",
        )
    beyond = [[[not way.knows(p, n) for n in sizes] for p in ranks] for way in ways]
    cells = tuple(ranks), tuple(sizes), tuple(ways), time_s
    ratios = tuple(None if way.error is None else 1 + way.error for way in ways)
    prediction = Prediction(
        *(pattern, machine, *cells, (), tuple(reasons), np.array(beyond)),
        ends_by_ratio=ratios,
        part_bytes=parts,
        intervals_s=intervals,
    )
    return replace(prediction, crossovers=tuple(_crossovers(prediction)))


def corrected(pattern_or_algorithm: str, machine: str, choice: AlgorithmChoice) -> Prediction:
    """The times of a choice fitted to measured cells, on its own grid."""
    pattern, _, algorithm = pattern_or_algorithm.partition("/")

    def timed(name: str) -> Seconds:
        measured_s = dict(choice.measured_of(name))
        return lambda ranks, size: measured_s.get((ranks, size)) or choice.time_s(name, ranks, size)

    cells = len(choice.costs) * len(choice.grid.ranks) * len(choice.grid.size_bytes)
    share = len(choice.measured_s) / cells
    source = f"composed, corrected by {percent(share, None)} of the cells"
    grid = choice.grid

    def part_of(name: str) -> PartOf:
        ranks, sizes = grid.ranks, grid.size_bytes
        parts = {
            (ranks[i], sizes[j]): size
            for (algorithm, i, j), size in choice.part_bytes.items()
            if algorithm == name
        }
        return lambda ranks, size: parts.get((ranks, size))

    ways = [Way(name, timed(name), source, part_bytes=part_of(name)) for name in choice.costs]
    return predicted(
        pattern, machine, grid.ranks, grid.size_bytes, _chosen(ways, pattern, algorithm)
    )


def _chosen(ways: list[Way], pattern: str, algorithm: str) -> list[Way]:
    """All ways, or the requested one."""
    names = [way.algorithm for way in ways]
    if algorithm and algorithm not in names:
        raise unknown(f"algorithm of {pattern}", algorithm, names)
    return [way for way in ways if algorithm in ("", way.algorithm)]


def _crossovers(prediction: Prediction) -> Iterator[AlgorithmCrossover]:
    """The sizes where the fastest algorithm changes, to the byte, by number of ranks.

    Between two requested sizes one change is sought; none is reported if the time of either
    algorithm is unknown in between.
    """
    by_name = {way.algorithm: way for way in prediction.ways}
    for p, names in zip(prediction.ranks, prediction.best(), strict=True):
        for j in range(len(names) - 1):
            before, after = names[j], names[j + 1]
            if before == after:
                continue
            at = prediction.size_bytes[j], prediction.size_bytes[j + 1]
            with contextlib.suppress(InputError):
                first, second = (_between(by_name[name], p, *at) for name in (before, after))
                size = _change(first, second, p, *at)
                yield AlgorithmCrossover(p, size, before, after)


def _between(way: Way, ranks: int, low: int, high: int) -> Seconds:
    """The time between two sizes: if they are close, in the parts best at either or the usual ones.

    A search of parts at every size would take most of the time of a prediction.
    """
    in_parts_s = way.in_parts_s
    if in_parts_s is None or high > CLOSE * low:
        return way.time_s
    parts = {way.part_bytes(ranks, size) or PART_BYTES for size in (low, high)} | {PART_BYTES}
    return lambda ranks, size: min(in_parts_s(ranks, size, part) for part in sorted(parts))


def _change(before: Seconds, after: Seconds, ranks: int, low: int, high: int) -> int:
    """The first size, above `low` up to `high`, from which on the second way is faster."""
    while high - low > 1:
        middle = (low + high) // 2
        if after(ranks, middle) < before(ranks, middle):
            high = middle
        else:
            low = middle
    return high
