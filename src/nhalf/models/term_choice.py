"""Selection of the few terms in p, and in p times n, that describe a pattern's times best.

Every choice is judged by weighted relative errors on cells left out (M. Stone, Journal of the Royal
Statistical Society B 36, 1974): leave-one-rank-count-out, then leave-one-size-out; with more than
FOLDS rank counts or sizes, several are left out at a time. Sums over cells are made once; all
choices of one length are then solved together from their normal equations.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.base.one_thread import one_thread
from nhalf.models.terms import TERMS

VOCABULARY = (
    *("1", "log2(p)", "ceil(log2(p))", "floor(log2(p))", "p-1", "p", "p-2", "(p-1)/p"),
    *("sqrt(p)", "p*log2(p)", "p^2", "p^3"),
)
"""The candidate terms; of equally good ones the first is preferred."""
TERMS_MAX = 4
"""Most terms of start-up and per byte together."""
BEAM = 8
"""This many of the best choices of a length are extended by a term."""
FOLDS = 4
GAIN_MIN = 0.8
"""One more term is used if it leaves at most this share of the error on cells left out,"""
GAIN_FLOOR = 2e-3
"""and reduces it by at least this."""
EVIDENT = 2.0
"""With several terms, each coefficient is at least this many standard errors from 0, or noise
would be fitted."""
SIGN_COST = 1.3
"""Costs are positive: the error of a sum with a negative coefficient is multiplied by this."""
RIDGE = 1e-11
RANKS_CHECKED = 64
"""In a wider range this many rank counts are checked, and those on both sides of powers of two,
where trees grow by a step."""


@dataclass(frozen=True)
class Cells:
    """Times of a pattern: one cell per size and number of ranks, all (m,).

    `noise` is the relative standard error of each time, 0 if it is exact or not known.
    """

    size_bytes: Floats
    ranks: NDArray[np.int64]
    time_s: Floats
    noise: Floats

    def take(self, index: NDArray[np.bool_]) -> Cells:
        """The cells that a mask selects."""
        return Cells(
            self.size_bytes[index], self.ranks[index], self.time_s[index], self.noise[index]
        )

    @property
    def weight(self) -> Floats:
        """Weight of each cell's squared relative error, about 1: noisy cells count less."""
        typical = float(np.median(self.noise)) if self.noise.size else 0.0
        if typical <= 0:
            return np.ones_like(self.time_s)
        weight: Floats = 2 * typical**2 / (typical**2 + self.noise**2)
        return weight


@dataclass(frozen=True)
class Chosen:
    """Terms with coefficients: seconds, and seconds per byte; `spread` are standard errors.

    `error` is the root mean square relative error on cells left out.
    """

    startup_s: dict[str, float]
    per_byte_s: dict[str, float]
    spread_startup_s: dict[str, float]
    spread_per_byte_s: dict[str, float]
    degrees: int
    error: float


def term_values(ranks: NDArray[np.int64]) -> Floats:
    """The value of every term of the vocabulary, (m, terms)."""
    different, place = np.unique(ranks, return_inverse=True)
    rows = [[TERMS[name](int(p)) for name in VOCABULARY] for p in different]
    table: Floats = np.array(rows, dtype=np.float64)
    return table[place]


def _design(size_bytes: Floats, ranks: NDArray[np.int64]) -> Floats:
    """The values of start-up terms, then of terms per byte: (m, 2 terms)."""
    values = term_values(ranks)
    return np.hstack([values, values * size_bytes[:, None]])


@one_thread()
def choose(cells: Cells) -> Chosen:
    """The best few terms for one region of sizes; times are positive over the whole region."""
    root = np.sqrt(cells.weight)
    design = _design(cells.size_bytes, cells.ranks) * (root / cells.time_s)[:, None]
    scale = np.sqrt((design**2).mean(axis=0))
    scale[scale == 0] = 1.0
    sums = _Sums.of(design / scale, root, _folds(cells))
    constraints = _Constraints.of(cells, scale)
    best: tuple[int, ...] = ()
    best_error, best_solution = np.inf, np.empty(0)
    beam: list[tuple[int, ...]] = []
    is_evident = partial(_evident, sums=sums.all_cells, cells=cells)
    for length in range(1, min(TERMS_MAX, np.unique(cells.ranks).size) + 1):
        subsets = _longer(beam, constraints.columns, length)
        if subsets.size == 0:
            break
        solution, error = sums.solve(subsets)
        error = np.where((solution < 0).any(axis=1), SIGN_COST * error, error)
        error = np.where(constraints.are_met(subsets, solution), error, np.inf)
        order = np.argsort(np.round(error, 9), kind="stable")[:BEAM]
        beam = [tuple(map(int, subsets[i])) for i in order if np.isfinite(error[i])]
        first = next((i for i in order if length == 1 or is_evident(subsets[i], solution[i])), None)
        if first is None:
            continue
        gain = best_error - error[first]
        if error[first] <= GAIN_MIN * best_error and gain >= GAIN_FLOOR:
            best, best_error = tuple(map(int, subsets[first])), float(error[first])
            best_solution = solution[first]
    return _named(best, best_solution, scale, sums.all_cells, best_error, cells.time_s.size)


def _evident(columns: NDArray[np.int64], solution: Floats, sums: _Equations, cells: Cells) -> bool:
    """Whether every coefficient is far enough from 0 to be more than noise."""
    spread = _spread(columns, solution, sums, cells.time_s.size)
    return bool(np.all(np.abs(solution) >= EVIDENT * spread))


def _longer(beam: list[tuple[int, ...]], columns: list[int], length: int) -> NDArray[np.int64]:
    """All choices of one or two columns; for more columns, those of the beam with one more."""
    if length <= 2 or not beam:
        subsets = list(itertools.combinations(columns, length)) if length <= 2 else []
    else:
        sets = {tuple(sorted({*old, new})) for old in beam for new in columns if new not in old}
        subsets = sorted(sets)
    return np.array(subsets, dtype=np.int64).reshape(-1, length)


def _folds(cells: Cells) -> list[NDArray[np.bool_]]:
    """Masks of cells left out: of rank counts, and of sizes, if there are three; else of any."""
    masks = []
    for values in (cells.ranks, cells.size_bytes):
        different, place = np.unique(values, return_inverse=True)
        count = min(FOLDS, different.size)
        if different.size >= 3:
            masks += [place % count == fold for fold in range(count)]
    numbers = np.arange(cells.ranks.size)
    return masks or [numbers % FOLDS == fold for fold in range(min(FOLDS, numbers.size))]


@dataclass(frozen=True)
class _Equations:
    """Normal equations of sets of cells: (sets, columns, columns), (sets, columns), (sets,)."""

    gram: Floats
    moment: Floats
    square: Floats


@dataclass(frozen=True)
class _Sums:
    """Normal equations of the cells outside each fold, of each fold, and of all cells."""

    training: _Equations
    held_out: _Equations
    all_cells: _Equations

    @classmethod
    def of(cls, design: Floats, target: Floats, folds: list[NDArray[np.bool_]]) -> _Sums:
        held_out = _equations(design, target, folds)
        all_cells = _equations(design, target, [np.ones(target.size, dtype=np.bool_)])
        training = _Equations(
            all_cells.gram - held_out.gram,
            all_cells.moment - held_out.moment,
            all_cells.square - held_out.square,
        )
        return cls(training, held_out, all_cells)

    def solve(self, subsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Coefficients (c, k) from all cells, and errors (c,) on cells left out."""
        coefficients, held_out = _solved(self.training, subsets), self.held_out
        gram = held_out.gram[:, subsets[:, :, None], subsets[:, None, :]]
        square = (
            held_out.square[:, None]
            - 2 * np.einsum("fck,fck->fc", coefficients, held_out.moment[:, subsets])
            + np.einsum("fci,fcij,fcj->fc", coefficients, gram, coefficients)
        )
        mean = np.maximum(square, 0.0).sum(axis=0) / held_out.square.sum()
        return _solved(self.all_cells, subsets)[0], np.sqrt(mean)


def _equations(design: Floats, target: Floats, sets: list[NDArray[np.bool_]]) -> _Equations:
    parts = [(design[mask], target[mask]) for mask in sets]
    return _Equations(
        np.array([part.T @ part for part, _ in parts]),
        np.array([part.T @ values for part, values in parts]),
        np.array([values @ values for _, values in parts]),
    )


def _solved(equations: _Equations, subsets: NDArray[np.int64]) -> Floats:
    """Coefficients (sets, c, k) of every subset of columns."""
    gram = equations.gram[:, subsets[:, :, None], subsets[:, None, :]]
    ridge = RIDGE * np.maximum(np.einsum("fcii->fci", gram), 1.0)
    gram = gram + ridge[..., None] * np.eye(subsets.shape[1])
    coefficients: Floats = np.linalg.solve(gram, equations.moment[:, subsets][..., None])[..., 0]
    return coefficients


@dataclass(frozen=True)
class _Constraints:
    """The constraints on a sum: positive at both ends of the region, not decreasing with size."""

    columns: list[int]
    ends: Floats
    slopes: Floats
    least_s: float

    @classmethod
    def of(cls, cells: Cells, scale: Floats) -> _Constraints:
        count = len(VOCABULARY)
        ranks = _checked_ranks(cells.ranks)
        sizes = np.unique(cells.size_bytes)
        ends = [_design(np.full(ranks.size, size), ranks) / scale for size in sizes[[0, -1]]]
        slopes = _design(np.ones(ranks.size), ranks) / scale
        slopes[:, :count] = 0.0
        columns = list(range(2 * count if sizes.size > 1 else count))
        return cls(columns, np.vstack(ends), slopes, 1e-3 * float(cells.time_s.min()))

    def are_met(self, subsets: NDArray[np.int64], solution: Floats) -> NDArray[np.bool_]:
        """Whether each of the sums meets the constraints, (c,)."""
        coefficients = np.zeros((subsets.shape[0], self.ends.shape[1]))
        np.put_along_axis(coefficients, subsets, solution, axis=1)
        positive = (coefficients @ self.ends.T >= self.least_s).all(axis=1)
        tiny = -1e-9 * np.abs(coefficients).max(axis=1)
        rising = (coefficients @ self.slopes.T >= tiny[:, None]).all(axis=1)
        is_allowed: NDArray[np.bool_] = positive & rising
        return is_allowed


def _checked_ranks(measured: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank counts at which a sum has to satisfy the constraints, ascending."""
    low, high = int(measured.min()), int(measured.max())
    if high - low < RANKS_CHECKED:
        return np.arange(low, high + 1)
    powers = 2 ** np.arange(high.bit_length() + 1)
    spread = np.geomspace(low, high, RANKS_CHECKED).round().astype(np.int64)
    candidates = np.unique(np.concatenate([spread, measured, powers - 1, powers, powers + 1]))
    return candidates[(candidates >= low) & (candidates <= high)]


def _spread(columns: NDArray[np.int64], solution: Floats, sums: _Equations, count: int) -> Floats:
    """Standard errors of the coefficients (k,) of a least-squares fit to `count` cells."""
    gram, moment = sums.gram[0][np.ix_(columns, columns)], sums.moment[0][columns]
    misfit = max(0.0, sums.square[0] - 2 * solution @ moment + solution @ gram @ solution)
    variance = np.diag(np.linalg.pinv(gram)) * misfit / _degrees(count, columns.size)
    spread: Floats = np.sqrt(np.maximum(variance, 0.0))
    return spread


def _degrees(count: int, terms: int) -> int:
    return max(1, count - terms)


def _named(
    columns: tuple[int, ...],
    solution: Floats,
    scale: Floats,
    sums: _Equations,
    error: float,
    count: int,
) -> Chosen:
    """Coefficients by the names of their terms, with their standard errors."""
    chosen = list(columns)
    spread = _spread(np.array(chosen, dtype=np.int64), solution, sums, count) / scale[chosen]
    degrees = _degrees(count, len(chosen))
    values = solution / scale[chosen]
    terms = len(VOCABULARY)
    parts: list[dict[str, float]] = [{}, {}, {}, {}]
    for place, value, deviation in zip(chosen, values, spread, strict=True):
        name, per_byte = VOCABULARY[place % terms], place >= terms
        parts[1 if per_byte else 0][name] = float(value)
        parts[3 if per_byte else 2][name] = float(deviation)
    return Chosen(parts[0], parts[1], parts[2], parts[3], degrees, error)
