"""New times against those that the same quantities took in the past: which are slower.

Past occasions differ by more than what one of them shows of itself, so an occasion counts as one
observation of each quantity. Its prediction interval is Student's with the variance between
occasions, of which the outer tenths are winsorised and which is moderated over quantities that are
alike (winsorised.py, moderation.py), for all quantities together (Bonferroni).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.statistics.intervals import DEGREES_SUMMED, student_quantile
from nhalf.statistics.moderation import moderate
from nhalf.statistics.winsorised import robust_spread

OCCASIONS_LEAST = 8
"""With fewer occasions a quantity is not judged."""
FALSE_RATE = 1 / 1000
"""The chance that any quantity of normal noise is called slower if nothing has changed: half of
what is promised, because noise is not normal."""
EXCURSION_FACTOR = 1.75
MANY_OCCASIONS = 16
"""Where noise has longer tails than Student's theory knows, the past has shown it: what is slower
has to be this much farther out than anything there."""
DEVIATION_LEAST = 0.003
"""Smallest relative standard deviation that is believed: a past without any noise is luck."""


@dataclass(frozen=True)
class PastRatio:
    """What one quantity takes now, relative to its past, with the interval of that ratio.

    `past_s` is its centre in the past. Without a change the ratio is in
    the interval from 1 / (high / ratio) to high / ratio.
    """

    name: str
    now_s: float
    past_s: float
    low: float
    high: float

    @property
    def ratio(self) -> float:
        """The value now over the past one."""
        return self.now_s / self.past_s

    @property
    def reach(self) -> float:
        """The factor from the ratio to the ends of its interval."""
        return self.high / self.ratio

    def exceeds(self, tolerance: float) -> bool:
        """Whether it is slower than the tolerance allows, sure or not."""
        return self.ratio > 1 + tolerance

    def is_slower(self, tolerance: float) -> bool:
        """Whether it is slower than the tolerance allows, and surely slower than in the past."""
        return self.exceeds(tolerance) and self.low > 1


def against_past(past: Sequence[Mapping[str, float]], now: Mapping[str, float]) -> list[PastRatio]:
    """The ratio of each quantity that has values now and on OCCASIONS_LEAST past occasions.

    Values are positive, in seconds; others count as missing.
    """
    logs = np.array([[_log(occasion.get(name)) for occasion in past] for name in now])
    logs = logs.reshape(len(now), len(past))
    has_past = (~np.isnan(logs)).sum(axis=1) >= OCCASIONS_LEAST
    rows = [
        (name, value)
        for (name, value), is_judged in zip(now.items(), has_past, strict=True)
        if is_judged and not math.isnan(_log(value))
    ]
    places = [list(now).index(name) for name, _ in rows]
    if not places:
        return []
    logs = logs[places]
    centres, deviations, degrees = _spread([name for name, _ in rows], logs)
    probability = 1 - 2 * FALSE_RATE / len(rows)
    counts = (~np.isnan(logs)).sum(axis=1)
    # How far up the past went, in standard deviations: the farthest quantity of an occasion, of
    # many occasions the second farthest, so that one accident does not hide what follows.
    steps_up = np.nanmax((logs - centres[:, None]) / deviations[:, None], axis=0, initial=0.0)
    usual = float(np.sort(steps_up)[-2 if len(steps_up) >= MANY_OCCASIONS else -1])
    ratios = []
    for (name, value), centre, deviation, freedom, count in zip(
        rows, centres, deviations, degrees, counts, strict=True
    ):
        # More degrees of freedom would claim to know the tails.
        quantile = student_quantile(int(min(freedom, DEGREES_SUMMED)), probability)
        steps = max(quantile * math.sqrt(1 + 1 / count), EXCURSION_FACTOR * usual)
        past_value, reach = math.exp(centre), math.exp(steps * deviation)
        ratio = value / past_value
        ratios.append(PastRatio(name, value, past_value, ratio / reach, ratio * reach))
    return ratios


def _spread(names: Sequence[str], logs: Floats) -> tuple[Floats, Floats, Floats]:
    """Centre, standard deviation and degrees of freedom of each row of logarithms.

    The degrees are those of the occasions alone: quantities of one occasion depend on each other.
    """
    centres, variances, degrees = robust_spread(logs)
    for kind in {_kind(name) for name in names}:
        alike = np.array([_kind(name) == kind for name in names])
        variances[alike] = moderate(variances[alike], degrees[alike])[0]
    return centres, np.sqrt(np.maximum(variances, DEVIATION_LEAST**2)), degrees


def _kind(name: str) -> str:
    """What quantities are alike: 'core' of 'core 5', 'device memory' of 'GPU 0: device memory'."""
    return name.partition(": ")[2] or name.partition(" ")[0]


def _log(value: float | None) -> float:
    return math.log(value) if value is not None and 0 < value < math.inf else math.nan
