"""T(n, p) of a pattern: sums of few terms in regions, times a smooth correction if it helps.

    T(n, p) = (t(p) + pi(p) n) exp(c(log2(n + 1), log2 p))

The sums are what people read: G. Abandah's models of the SP2 (1995), with terms chosen as by
A. Calotoiu et al. (SC 2013), on relative errors. Regions are ranges of n between which a library
changes its algorithm; their best division is by dynamic programming (R. Bellman, CACM 4, 1961) over
lines of every number of ranks, their number by G. Schwarz's criterion. The residuals of the sums
are interpolated between cells (statistics/gaussian_process.py) if that reduces the error on cells
left out of the fit. If cells are few and far apart, a surface without a formula may predict those
left out better (models/smooth.py): it then gives the times, and the sums are what people read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.base.errors import InputError
from nhalf.models.forms.segmented import switch
from nhalf.models.least_squares import best_partitions, segment_costs
from nhalf.models.smooth import Smooth
from nhalf.models.term_choice import Cells, Chosen, choose
from nhalf.statistics.gaussian_process import Correction

RANKS_MIN = 4
"""Least number of rank counts: with fewer, any two terms fit."""
REGIONS_MAX = 5
CELLS_PER_REGION_MIN = 6
PARAMETERS = 6
"""Parameters of a region: four coefficients and a break, which counts as two."""
NOISE_FLOOR = 0.01
"""Relative misfit that is not worth another region."""
CORRECTION_SCALES = (2.0, 8.0)
CORRECTION_NUGGETS = (1e-4,)
DEVIATION_MAX = 0.7
"""Bound of the logarithm: no correction is larger than a factor of two."""


@dataclass(frozen=True)
class SizeRegion:
    """Sums for sizes from the first to the last, which both belong to it."""

    from_bytes: float
    to_bytes: float
    chosen: Chosen
    correction: Correction | None = None


@dataclass(frozen=True)
class Pattern:
    """A fitted model with its support: sizes and ranks from the least to the most measured."""

    regions: tuple[SizeRegion, ...]
    from_bytes: float
    to_bytes: float
    from_ranks: int
    to_ranks: int
    smooth: Smooth | None = None

    @classmethod
    def fit(cls, cells: Cells, corrected: bool = False) -> Pattern:
        """The best sums in regions of n; raises InputError for too few or bad cells."""
        check(cells)
        model = cls(
            _fit_regions(cells),
            float(cells.size_bytes.min()),
            float(cells.size_bytes.max()),
            int(cells.ranks.min()),
            int(cells.ranks.max()),
        )
        return model.corrected(cells) if corrected else model

    def corrected(self, cells: Cells) -> Pattern:
        """The model with the residuals of its sums as a smooth function between the cells."""
        regions = [replace(region, correction=None) for region in self.regions]
        sums = replace(self, regions=tuple(regions))
        residuals = np.log(cells.time_s / sums.predict_s(cells.size_bytes, cells.ranks))
        region_numbers = self.region_numbers(cells.size_bytes)
        regions = []
        for number, region in enumerate(self.regions):
            in_region = region_numbers == number
            correction = None
            if in_region.any():
                place = places(cells.size_bytes[in_region], cells.ranks[in_region])
                correction = Correction.fit(
                    place, residuals[in_region], CORRECTION_SCALES, CORRECTION_NUGGETS
                )
            regions.append(replace(region, correction=correction))
        return replace(self, regions=tuple(regions))

    def smoothed(self, cells: Cells) -> Pattern:
        """The model with a surface through the cells, which gives the times between them."""
        place = places(cells.size_bytes, cells.ranks)
        return replace(self, smooth=Smooth.fit(place, np.log(cells.time_s)))

    def region_numbers(self, size_bytes: Floats) -> NDArray[np.intp]:
        """The number of the region of every size."""
        starts = [region.from_bytes for region in self.regions[1:]]
        return np.searchsorted(starts, size_bytes, side="right")

    def predict_s(
        self, size_bytes: Floats, ranks: NDArray[np.int64], extrapolate: bool = False
    ) -> Floats:
        """Seconds (m,) for sizes and numbers of ranks (m,).

        Raises InputError beyond the sizes and ranks measured, unless asked to extrapolate.
        """
        size = np.asarray(size_bytes, dtype=np.float64)
        ranks = np.asarray(ranks, dtype=np.int64)
        if not extrapolate:
            self._check_support(size, ranks)
        time = np.empty(np.broadcast_shapes(size.shape, ranks.shape))
        size, ranks = np.broadcast_to(size, time.shape), np.broadcast_to(ranks, time.shape)
        region_numbers = self.region_numbers(size)
        for number, region in enumerate(self.regions):
            in_region = region_numbers == number
            if in_region.any():
                time[in_region] = _predict_region(region, size[in_region], ranks[in_region])
        if self.smooth is not None:
            inside = (size >= self.from_bytes) & (size <= self.to_bytes)
            inside &= (ranks >= self.from_ranks) & (ranks <= self.to_ranks)
            time[inside] = self.smooth.time_s(places(size[inside], ranks[inside]))
        return time

    def _check_support(self, size: Floats, ranks: NDArray[np.int64]) -> None:
        sizes = bool(np.all((size >= self.from_bytes) & (size <= self.to_bytes)))
        if not (sizes and bool(np.all((ranks >= self.from_ranks) & (ranks <= self.to_ranks)))):
            raise InputError(
                f"the model covers {self.from_bytes:.0f} to {self.to_bytes:.0f} bytes "
                f"of {self.from_ranks} to {self.to_ranks} ranks only",
                "measure the points in question, or ask it to extrapolate",
            )


def check(cells: Cells) -> None:
    """Raise InputError unless there are enough valid cells, each size and rank count once."""
    ranks = np.unique(cells.ranks).size
    if ranks < RANKS_MIN:
        message = f"a model of ranks needs {RANKS_MIN} numbers of ranks, there are {ranks}"
        raise InputError(message, "measure more of them: --ranks 2,4,8,16")
    sound = np.isfinite(cells.time_s) & (cells.time_s > 0) & np.isfinite(cells.size_bytes)
    if not np.all(sound & (cells.size_bytes >= 0) & (cells.ranks >= 1)):
        raise InputError("times must be positive numbers", "leave out points that failed")
    if len({*zip(cells.size_bytes, cells.ranks, strict=True)}) < cells.ranks.size:
        raise InputError("a size of a number of ranks is there twice", "summarise the points first")


def places(size_bytes: Floats, ranks: NDArray[np.int64]) -> Floats:
    """Coordinates (m, 3) of corrections: logarithms of n and p, and whether p is a power of two."""
    power = np.array([1.0 if int(p) & (int(p) - 1) == 0 else 0.0 for p in ranks])
    return np.stack([np.log2(size_bytes + 1), np.log2(ranks), 4 * power], axis=1)


def _predict_region(region: SizeRegion, size: Floats, ranks: NDArray[np.int64]) -> Floats:
    from nhalf.models.terms import value

    different, place = np.unique(ranks, return_inverse=True)
    startup = np.array([value(region.chosen.startup_s, int(p)) for p in different])[place]
    per_byte = np.array([value(region.chosen.per_byte_s, int(p)) for p in different])[place]
    time: Floats = startup + per_byte * size
    if region.correction is not None:
        mean = region.correction.predict(places(size, ranks))[0]
        time = time * np.exp(np.clip(mean, -DEVIATION_MAX, DEVIATION_MAX))
    return time


def _fit_regions(cells: Cells) -> tuple[SizeRegion, ...]:
    """The sums of every region."""
    sizes = np.unique(cells.size_bytes)
    starts = _starts(cells, sizes)
    edges = [float(sizes[0]), *(_between(sizes[i - 1], sizes[i]) for i in starts[1:])]
    ends = [*(edge - 1 for edge in edges[1:]), float(sizes[-1])]
    regions = []
    for low, high in zip(edges, ends, strict=True):
        in_region = (cells.size_bytes >= low) & (cells.size_bytes <= high)
        regions.append(SizeRegion(low, high, choose(cells.take(in_region))))
    return tuple(regions)


def _between(low: float, high: float) -> float:
    """The first size of the right region, in whole bytes: libraries switch at round sizes."""
    if high <= low + 1:
        return float(high)
    return float(min(max(math.ceil(switch(max(low, 1.0), high)), low + 1), high))


def _starts(cells: Cells, sizes: Floats) -> list[int]:
    """Positions in `sizes` at which the best regions begin.

    Schwarz's criterion counts the parameters of the sums, not those of the lines of every number
    of ranks, which only stand in for them.
    """
    cost = _line_costs(cells, sizes)
    if not np.isfinite(cost[0, -1]):
        return [0]
    partitions = best_partitions(cost, 1, REGIONS_MAX)
    total = cells.time_s.size
    scores = []
    for number, starts in enumerate(partitions, start=1):
        ends = [*(starts[1:] - 1), sizes.size - 1]
        misfit = sum(float(cost[i, j]) for i, j in zip(starts, ends, strict=True))
        variance = misfit / total + NOISE_FLOOR**2
        scores.append(total * math.log(variance) + PARAMETERS * number * math.log(total))
    return [int(start) for start in partitions[int(np.argmin(scores))]]


def _line_costs(cells: Cells, sizes: Floats) -> Floats:
    """Misfit (m, m) of one line for each number of ranks from size i to size j."""
    cost = np.zeros((sizes.size, sizes.size))
    count = np.zeros_like(cost)
    for ranks in np.unique(cells.ranks):
        own = np.flatnonzero(cells.ranks == ranks)
        own = own[np.argsort(cells.size_bytes[own])]
        size = cells.size_bytes[own]
        lines = segment_costs(size, cells.time_s[own], cells.weight[own])
        first = np.searchsorted(size, sizes, side="left")[:, None]
        last = np.searchsorted(size, sizes, side="right")[None, :] - 1
        inner = lines[np.minimum(first, own.size - 1), np.maximum(last, 0)]
        cost += np.where(first <= last, np.where(np.isfinite(inner), inner, 0.0), 0.0)
        count += np.maximum(last - first + 1, 0)
    return np.where(np.triu(count) >= CELLS_PER_REGION_MIN, cost, np.inf)
