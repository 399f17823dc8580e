"""The time of a program as a formula in its numbers and ranks, and which of its terms decide.

How often loops run and calls are made, and how many bytes these move, are products of powers of the
numbers where the source is regular. What the loops of the last rank take is such products. The rest
of the time, with all waiting, is fitted by few of them, each also times a power of the ranks or the
stages among them: the term that lowers the error most comes first. All points that were evaluated
say how far the formula is off.
"""

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from nhalf.base.arrays import Floats
from nhalf.decide.estimate.evaluation import COMPUTING, Evaluation
from nhalf.loops.program.events import Label

OF_RANKS = "ranks"
LATENCY, BANDWIDTH = "latency", "bandwidth"
KINDS = (COMPUTING, LATENCY, BANDWIDTH)
ERROR_MOST = 0.1
"""A formula that is off by more is none."""
ROUGH = 0.5
"""Ranks in a grid have longer sides by steps."""
POINTS_LEAST = 4
GOOD, GAIN = 0.002, 0.7
"""A further term has to lower an error above the first to this share of it."""
EXACT = 0.02
"""A count may be off by this share, as that of the first and the last of many rows."""
CROSSINGS = 2.0 ** (np.arange(-80, 81) / 8)
"""How many times less or more of a number is looked at."""
Point = Mapping[str, int]
Sample = tuple[Point, Evaluation]
Power = tuple[float, int]
"""The power of a number, and that of its logarithm to base 2."""
Powers = tuple[tuple[str, Power], ...]
POWERS: Sequence[Power] = [
    (power, stages) for stages in (0, 1) for power in (0, 1, 2, 3, -1, 0.5, -0.5, 1.5, -2)
]
STAGES: Sequence[Power] = [(0, 0), (0, 1), (1, 0), (-1, 0), (0.5, 0), (-0.5, 0), (1, 1)]


@dataclass(frozen=True)
class Term:
    """`factor_s` times the powers of the numbers, what it is spent on, and the line."""

    kind: str
    factor_s: float
    powers: Powers

    def time_s(self, point: Mapping[str, float]) -> float:
        """The time at a point."""
        return self.factor_s * math.prod(_raised(point[name], own) for name, own in self.powers)


@dataclass(frozen=True)
class Formula:
    """The sum of its terms is the time; `error` is the largest at the points where it was fitted.

    `decides` is the kind of term that takes most of the time, `beyond` from which number on another
    one does: the name, the number, whether beyond is above it, and that kind.
    """

    terms: tuple[Term, ...]
    error: float
    points: int
    decides: str
    beyond: tuple[tuple[str, int, bool, str], ...]

    def as_json(self) -> dict[str, Any]:
        """The formula in `nhalf predict --source --json`."""
        terms = [
            {"kind": term.kind, "factor_s": term.factor_s, "powers": {
                name: {"power": power, "log2": stages} for name, (power, stages) in term.powers
            }}
            for term in self.terms
        ]  # fmt: skip
        beyond = [
            {"name": name, "number": number, "is_above": is_above, "decides": kind}
            for name, number, is_above, kind in self.beyond
        ]
        return {**vars(self), "terms": terms, "beyond": beyond}

    def time_s(self, point: Mapping[str, float]) -> float:
        """The time at a point."""
        return math.fsum(term.time_s(point) for term in self.terms)


def _raised(number: float, power: Power) -> float:
    return float(number ** power[0] * math.log2(max(number, 1.0)) ** power[1])


def formula(points: Sequence[Sample], half_bytes: float) -> Formula | None:
    """The formula of evaluations, that of the program first; None if nothing takes time, no number
    can be changed, or no few terms give it within ERROR_MOST.
    """
    (base, first), *_ = points
    points = [sample for sample in points if sample[1].end_s and _is_alike(sample[1], first)]
    if not first.end_s or len(points) < POINTS_LEAST:
        return None
    ends_s = np.array([own.end_s for _, own in points])
    labels = [label for label, time_s in first.time_s.items() if time_s]
    loops = [_loop(label, points) for label in labels if label[0] == COMPUTING]
    fixed = [term for term in loops if term]
    left_s = ends_s - [sum(term.time_s(point) for term in fixed) for point, _ in points]
    terms = _merged(
        [*fixed, *_fitted(list(_candidates(labels, points, half_bytes)), points, left_s, ends_s)]
    )
    fitted = Formula(terms, 0.0, len(points), "", ())
    error = max(abs(fitted.time_s(point) / own.end_s - 1) for point, own in points)
    if error > ERROR_MOST:
        return None
    ordered = tuple(sorted(terms, key=lambda term: -term.time_s(base)))
    return Formula(
        ordered, error, len(points), _decides(fitted, base), tuple(_beyond(fitted, base))
    )


def _is_alike(own: Evaluation, first: Evaluation) -> bool:
    """Whether an iteration of each loop that counts takes as long, which more misses change."""
    for label, time_s in first.time_s.items():
        if label[0] == COMPUTING and time_s > EXACT * first.end_s:
            ratio = own.time_s.get(label, 0.0) / max(1, own.count[label])
            if abs(ratio * first.count[label] / time_s - 1) > EXACT:
                return False
    return True


def _merged(terms: Sequence[Term]) -> tuple[Term, ...]:
    """One term of each kind and powers."""
    factors_s: dict[tuple[str, Powers], float] = {}
    for term in terms:
        key = term.kind, term.powers
        factors_s[key] = factors_s.get(key, 0.0) + term.factor_s
    return tuple(Term(kind, factor_s, powers) for (kind, powers), factor_s in factors_s.items())


def _decides(fitted: Formula, point: Mapping[str, float]) -> str:
    """The kind that takes most; '' if nothing takes time."""
    times_s = dict.fromkeys(KINDS, 0.0)
    for term in fitted.terms:
        times_s[term.kind] += term.time_s(point)
    most = max(times_s, key=lambda kind: times_s[kind])
    return most if times_s[most] > 0 else ""


def _beyond(fitted: Formula, base: Point) -> Iterator[tuple[str, int, bool, str]]:
    """From which number on another kind decides, to either side."""
    present_kind = _decides(fitted, base)
    for name, is_above in itertools.product(base, (False, True)):
        numbers = [base[name] * times for times in CROSSINGS if (times > 1) == is_above]
        for number in numbers if is_above else numbers[::-1]:
            if number < 1:
                break
            kind = _decides(fitted, {**base, name: number})
            if kind and kind != present_kind:
                yield name, round(number), is_above, kind
                break


def _loop(label: Label, points: Sequence[Sample]) -> Term | None:
    """What a loop takes on the last rank; None if that is no product of powers."""
    powers = _powers(points, [own.count[label] for _, own in points])
    if powers is None:
        return None
    unit = Term(COMPUTING, 1.0, _times(powers, (0, 0)))
    base, first = points[0]
    term = Term(COMPUTING, first.time_s[label] / unit.time_s(base), unit.powers)
    is_exact = all(
        abs(term.time_s(point) - own.time_s.get(label, 0.0)) <= EXACT * own.end_s
        for point, own in points
    )
    return term if is_exact else None


def _candidates(
    labels: Sequence[Label], points: Sequence[Sample], half_bytes: float
) -> Iterator[Term]:
    """What the rest of the time may be made of; of equal powers the kind that comes first.

    Messages of one size count as bandwidth where that is beyond the `half_bytes` of the machine.
    """
    first, kind_by_powers = points[0][1], dict[Powers, str]()
    calls = [label for label in labels if label[0] != COMPUTING]
    is_long = {label: first.size_bytes[label] > half_bytes * first.count[label] for label in calls}
    kinds = [(BANDWIDTH, "size_bytes", [label for label in calls if is_long[label]])]
    kinds += [(LATENCY, "count", calls), (BANDWIDTH, "size_bytes", calls)]
    kinds += [(COMPUTING, "count", [label for label in labels if label[0] == COMPUTING])]
    for kind, of, own_labels in kinds:
        for label in own_labels:
            powers = _powers(points, [getattr(own, of)[label] for _, own in points])
            for stages in STAGES if powers else ():
                kind_by_powers.setdefault(_times(powers or {}, stages), kind)
    for stages in STAGES:
        kind_by_powers.setdefault(_times({OF_RANKS: (0, 0)}, stages), LATENCY)
    return (Term(kind, 1.0, powers) for powers, kind in kind_by_powers.items())


def _fitted(
    candidates: Sequence[Term], points: Sequence[Sample], left_s: Floats, ends_s: Floats
) -> Sequence[Term]:
    """The terms that give what is left of the times; fewer than half as many as points."""
    columns = [[term.time_s(point) for point, _ in points] / ends_s for term in candidates]
    usable = [place for place, own in enumerate(columns) if np.isfinite(own).all() and own.all()]
    chosen: list[int] = []
    shares = left_s / ends_s
    fit: tuple[float, list[int], Floats] = float(np.linalg.norm(shares)), [], np.zeros(0)

    def errors() -> Iterator[tuple[float, list[int], Floats]]:
        for place in set(usable).difference(chosen):
            own = [*chosen, place]
            factors, error = nnls(np.column_stack([columns[at] for at in own]), shares)
            yield error, own, factors

    while len(chosen) < (len(points) - 1) // 2 and usable:
        better = min(errors(), key=operator.itemgetter(0, 1), default=fit)
        if better[0] > GAIN * fit[0] or fit[0] < GOOD:
            break
        fit, chosen = better, better[1]
    return [
        Term(candidates[place].kind, float(factor_s), candidates[place].powers)
        for place, factor_s in zip(fit[1], fit[2], strict=True)
        if factor_s
    ]


def _times(powers: Mapping[str, Power], stages: Power) -> Powers:
    """The powers of a product, with those of stages among ranks."""
    power, logarithms = powers[OF_RANKS]
    all_powers = {**powers, OF_RANKS: (power + stages[0], logarithms + stages[1])}
    return tuple((name, own) for name, own in all_powers.items() if own != (0, 0))


def _powers(points: Sequence[Sample], counted: Sequence[int]) -> dict[str, Power] | None:
    """The powers by which a count grows; None if it is no product of them, or 0."""
    base, first = points[0][0], counted[0]
    powers: dict[str, Power] = {}
    for name in base:
        own = [
            (point[name], number)
            for (point, _), number in zip(points, counted, strict=True)
            if all(point[axis] == base[axis] for axis in base if axis != name)
        ]

        def error(power: Power, name: str = name, own: Sequence[tuple[int, int]] = own) -> float:
            unit = _raised(base[name], power)
            if not unit or not first:
                return math.inf
            return max(abs(number / first / (_raised(at, power) / unit) - 1)
                       if _raised(at, power) else math.inf for at, number in own)  # fmt: skip

        powers[name] = min(POWERS, key=error)
        if error(powers[name]) > (ROUGH if name == OF_RANKS else EXACT):
            return None
    return powers
