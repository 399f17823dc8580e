"""The fastest algorithm by ranks and size, from few measurements.

The time of each algorithm is a prior times a correction,

    T(n, p) = cost(n, p) exp(c(log2 p, log2 n, sharing, protocol))

where the cost is composed of the machine's parts (machines/parts.py) and c is fitted to the
measurements (gaussian_process.py), with a standard deviation everywhere. c may jump at the
machine's rendezvous threshold, and where ranks share a node; between two ranks, where algorithms
degenerate, it differs from that among more.

The next measurement follows from both: where an algorithm may beat the one that seems best
(its expected improvement; D. Jones, M. Schonlau, W. Welch, Efficient Global Optimization, Journal
of Global Optimization 13, 1998), or where the one that seems best may not be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.machines.algorithms import Algorithm, cost_bytes
from nhalf.machines.curve import THRESHOLD_BYTES
from nhalf.machines.parts import Parts
from nhalf.models.expression import PART_BYTES, Expression, parse
from nhalf.mpi.decision_table import NATIVE
from nhalf.statistics.gaussian_process import Correction, Prior

TREE = parse("ceil(log2(p)) * T(n)")
"""The prior without a composed cost, such as for the library's own algorithm."""
TIME_MIN_S = 1e-12
PRIOR = Prior(
    scale=(4.0, 4.0, 8.0, 8.0),
    nugget=1e-2,
    variance=0.04,
    mean_variance=1.0,
    weight_values=4,
    values_min=20,
)
"""Costs are mostly right within a fifth, as on the grids of docs/guide/predict.md."""
SCALES = ((1.0, 2.0, 4.0, 8.0), (1.0, 2.0, 4.0, 8.0), (4.0, 16.0), (4.0, 16.0))
PROTOCOL = 4.0
"""The distance between two protocols, in doublings of the size."""
SHARING = 2.0
"""The distance between a number of ranks per node and twice that, in the same unit."""
PAIR = -3.0
"""The position of 2 ranks on the axis of log2 p: as far from 3 as two protocols are apart."""

Cost = Callable[[NDArray[Any], NDArray[Any]], Floats]
"""Seconds, or the bytes of a part, for paired arrays of ranks and bytes."""
Cell = tuple[str, int, int]
"""Algorithm, index of the number of ranks in the grid, index of the size."""


@dataclass(frozen=True)
class Grid:
    """The grid of choices: numbers of ranks (k,) and sizes in bytes (m,), both increasing.

    From `rendezvous_bytes` on, messages use a different protocol; `per_node` is the number of ranks
    that share a node, by number of ranks, by default 1.
    """

    ranks: tuple[int, ...]
    size_bytes: tuple[int, ...]
    rendezvous_bytes: int = THRESHOLD_BYTES
    per_node: tuple[int, ...] = ()

    def places(self) -> Floats:
        """(k m, 4): the arguments of corrections; sizes change fastest."""
        sizes = np.array(self.size_bytes, dtype=np.float64)
        logs = np.log2(np.maximum(sizes, 1.0))
        ranks = np.array(self.ranks)
        p, n = np.meshgrid(np.where(ranks > 2, np.log2(ranks), PAIR), logs, indexing="ij")
        protocol = np.where(sizes >= self.rendezvous_bytes, PROTOCOL, 0.0)
        sharing = SHARING * np.log2(self.per_node or np.ones(len(self.ranks)))
        kinds = np.meshgrid(sharing, protocol, indexing="ij")
        return np.stack([p.ravel(), n.ravel(), *(kind.ravel() for kind in kinds)], axis=1)

    def middle(self) -> tuple[int, int]:
        """The cell in the middle, where everything is measured first."""
        return len(self.ranks) // 2, len(self.size_bytes) // 2


@dataclass
class AlgorithmChoice:
    """The state of knowledge about every algorithm of one operation on a grid.

    `costs` are the composed costs by algorithm, seconds for paired arrays of ranks and bytes;
    `measured_s` are the measured times, seconds by cell; `part_bytes` are the sizes of parts in
    cells whose messages are cut.
    """

    grid: Grid
    costs: Mapping[str, Cost]
    measured_s: dict[Cell, float] = field(default_factory=dict)
    part_bytes: Mapping[Cell, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        p, n = np.meshgrid(self.grid.ranks, self.grid.size_bytes, indexing="ij")
        self.prior_s = {name: cost(p, n) for name, cost in self.costs.items()}
        self._fitted: dict[str, Correction] = {}

    @classmethod
    def of(
        cls,
        operation: str,
        algorithms: Sequence[Algorithm],
        parts: Parts,
        grid: Grid,
        part_bytes: Mapping[Cell, int] | None = None,
    ) -> AlgorithmChoice:
        """Start from the costs of the algorithms, and of the library's own one, on a machine.

        Messages are cut into parts of `part_bytes` in its cells, of the usual size in others.
        """
        costs = {
            NATIVE: TREE,
            **{algorithm.name: algorithm.cost or TREE for algorithm in algorithms},
        }
        cuts = part_bytes or {}
        return cls(
            grid,
            {
                name: _cost(operation, cost, parts, _cut(grid, name, cuts))
                for name, cost in costs.items()
            },
            part_bytes=cuts,
        )

    def learn(self, cells: Mapping[Cell, float]) -> None:
        """Add measured times, seconds by cell."""
        self.measured_s.update(cells)
        for name in {cell[0] for cell in cells}:
            self._fitted.pop(name, None)

    def predict(self, algorithm: str) -> tuple[Floats, Floats]:
        """Seconds, and the standard deviation of their logarithm, (k, m) each.

        A measured cell has its own time, and no deviation.
        """
        return self._times_and_spread(algorithm, self._correction(algorithm))

    def time_s(self, algorithm: str, ranks: int, size_bytes: int) -> float:
        """Seconds within the grid, at its points or between them."""
        prior_s = float(self.costs[algorithm](np.array(ranks), np.array(size_bytes)))
        nearest = min(range(len(self.grid.ranks)), key=lambda i: abs(self.grid.ranks[i] - ranks))
        per_node = self.grid.per_node[nearest : nearest + 1]
        place = replace(
            self.grid, ranks=(ranks,), size_bytes=(size_bytes,), per_node=per_node
        ).places()
        return prior_s * math.exp(float(self._correction(algorithm).predict(place)[0][0]))

    def measured_of(self, algorithm: str) -> dict[tuple[int, int], float]:
        """Measured seconds of an algorithm by number of ranks and size."""
        ranks, sizes = self.grid.ranks, self.grid.size_bytes
        return {(ranks[i], sizes[j]): s for (i, j), s in self._measured(algorithm).items()}

    def best(self) -> list[list[str]]:
        """The algorithm that seems fastest, by number of ranks and size."""
        names = list(self.prior_s)
        times = np.stack([self.predict(name)[0] for name in names])
        return [[names[place] for place in row] for row in times.argmin(axis=0)]

    def next_cells(self, count: int) -> list[Cell]:
        """Up to `count` cells with the most promising measurement; the central one goes first.

        After each, its expected information about its neighbours is assumed.
        """
        if not self.measured_s:
            return [(name, *self.grid.middle()) for name in self.prior_s][:count]
        names = list(self.prior_s)
        predictions = [self.predict(name) for name in names]
        log_s = np.log(np.stack([time_s for time_s, _ in predictions]))
        deviation = np.stack([spread for _, spread in predictions])
        cells: list[Cell] = []
        for _ in range(count):
            gain = _gain(log_s, deviation)
            place = int(gain.argmax())
            if gain.flat[place] <= 0:
                break
            a, i, j = (int(x) for x in np.unravel_index(place, gain.shape))
            cells.append((names[a], i, j))
            deviation[a] = self._deviation_after(names[a], [c for c in cells if c[0] == names[a]])
        return cells

    def _deviation_after(self, algorithm: str, new_cells: Sequence[Cell]) -> Floats:
        """The deviation (k, m) of an algorithm once some more cells of it were measured."""
        fitted = self._correction(algorithm)
        time_s, _ = self._times_and_spread(algorithm, fitted)
        with_new_cells = {
            **self._measured(algorithm),
            **{(i, j): time_s[i, j] for _, i, j in new_cells},
        }
        places, values = self._data(algorithm, with_new_cells)
        return self._spread(replace(fitted, place=places, value=values), with_new_cells)

    def _measured(self, algorithm: str) -> dict[tuple[int, int], float]:
        return {cell[1:]: s for cell, s in self.measured_s.items() if cell[0] == algorithm}

    def _data(
        self, algorithm: str, measured_s: Mapping[tuple[int, int], float]
    ) -> tuple[Floats, Floats]:
        """Places (m, 4) and logarithms of measured over prior (m,)."""
        places = self.grid.places().reshape(len(self.grid.ranks), len(self.grid.size_bytes), -1)
        cells = list(measured_s)
        prior = self.prior_s[algorithm]
        values = np.array([math.log(measured_s[cell] / prior[cell]) for cell in cells])
        return np.array([places[cell] for cell in cells]).reshape(-1, places.shape[-1]), values

    def _correction(self, algorithm: str) -> Correction:
        if algorithm not in self._fitted:
            data = self._data(algorithm, self._measured(algorithm))
            self._fitted[algorithm] = Correction.fit(*data, SCALES, (PRIOR.nugget, 0.1), PRIOR)
        return self._fitted[algorithm]

    def _times_and_spread(self, algorithm: str, fitted: Correction) -> tuple[Floats, Floats]:
        measured_s_by_cell = self._measured(algorithm)
        prior = self.prior_s[algorithm]
        mean, _ = fitted.predict(self.grid.places())
        time_s: Floats = prior * np.exp(mean.reshape(prior.shape))
        for cell, measured_s in measured_s_by_cell.items():
            time_s[cell] = measured_s
        return time_s, self._spread(fitted, measured_s_by_cell)

    def _spread(self, fitted: Correction, measured_s: Mapping[tuple[int, int], float]) -> Floats:
        _, deviation = fitted.predict(self.grid.places())
        spread: Floats = deviation.reshape(len(self.grid.ranks), len(self.grid.size_bytes))
        for cell in measured_s:
            spread[cell] = 0.0
        return spread


def _cut(grid: Grid, algorithm: str, part_bytes: Mapping[Cell, int]) -> Cost:
    """The size of a part of an algorithm: that of the nearest cell which is no larger."""
    by_cell = np.full((len(grid.ranks), len(grid.size_bytes)), float(PART_BYTES))
    for (name, i, j), size in part_bytes.items():
        if name == algorithm:
            by_cell[i, j] = size

    def cut_bytes(ranks: NDArray[Any], size_bytes: NDArray[Any]) -> Floats:
        row = np.abs(np.subtract.outer(ranks, grid.ranks)).argmin(axis=-1)
        column = np.searchsorted(grid.size_bytes, size_bytes, side="right") - 1
        return np.asarray(by_cell[row, np.maximum(column, 0)])

    return cut_bytes


def _cost(operation: str, cost: Expression, parts: Parts, cut: Cost) -> Cost:
    """The composed cost; if a formula gives zero or less, that of one message."""

    def time_s(ranks: NDArray[Any], size_bytes: NDArray[Any]) -> Floats:
        n = cost_bytes(operation, ranks, size_bytes)
        composed_s = cost.value(ranks, n, parts.functions, cut(ranks, size_bytes))
        message = parts.functions["T"](size_bytes.astype(np.float64))
        positive: Floats = np.where(composed_s > 0, composed_s, np.maximum(message, TIME_MIN_S))
        return positive

    return time_s


def _gain(log_s: Floats, deviation: Floats) -> Floats:
    """The expected gain (algorithms, k, m) from measuring algorithms in cells, share of time.

    For the one that seems best: how much slower than the second it may be. For the others: how
    much faster than the best.
    """
    from scipy.special import ndtr

    order = np.sort(log_s, axis=0)
    best = order[0]
    second = order[1] if len(order) > 1 else best + 1.0
    is_best = log_s == best
    lead: Floats = np.where(is_best, second - log_s, log_s - best)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(deviation > 0, lead / deviation, np.inf)
        density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
        # ndtr(-z) is the probability of the normal distribution above z.
        gain: Floats = np.where(deviation > 0, deviation * density - lead * ndtr(-z), 0.0)
    return gain


Measure = Callable[[Sequence[Cell]], Mapping[Cell, float]]
"""Seconds of some cells, without those that could not be measured."""


def explore(choice: AlgorithmChoice, measure: Measure, cells_max: int, batch: int = 0) -> None:
    """Measure the most promising cells, in batches, until enough are known or none is promising.

    `batch` 0 takes a tenth of the remaining number each time.
    """
    while len(choice.measured_s) < cells_max:
        remaining = cells_max - len(choice.measured_s)
        cells = choice.next_cells(min(remaining, batch or max(4, remaining // 10)))
        times_s = measure(cells) if cells else {}
        if not times_s:
            return
        choice.learn(times_s)
