"""Nodes and links that are slower than the others, from times between all pairs.

The logarithm of the time from i to j is taken as

    log t(i, j) = overall + sends(i) + receives(j) + pair(i, j) + noise

fitted by medians, as in Tukey's median polish (J. Tukey, Exploratory Data Analysis, 1977), but most
effects are zero: one is added only if it is larger than MINIMAL_RATIO and than chance allows, nodes
before pairs. With three hosts a full polish would distribute one slow link between its ends.
`overall` is the median of the unremarkable pairs, the fastest group of at least a third of all,
because with few hosts a slow node makes most pairs slow.

Chance: an effect counts if it exceeds a threshold T in *every* one of L launches. One launch
exceeds the quantile of its noise with probability p, so none of N pairs does in all launches with
probability 1 - N p^L; p is chosen so that this is 1 - ERROR_PROBABILITY. The noise is that between
launches, with its degrees of freedom. T is larger if the unremarkable pairs differ by more than
their launches do, or if outlying launches are so frequent that all launches of one pair could be
outliers by chance.
"""

import functools
import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from nhalf.statistics.intervals import LOG_LARGEST, Floats, Interval, launch_interval

ERROR_PROBABILITY = 1e-3
"""The probability of naming anything when all are equal and noise is lognormal."""


BASE_SHARE = 1 / 3
"""The reference group holds at least this share of all pairs."""

NOISE_CUT = 4.0
"""Launches that differ by this many usual differences do not count as noise."""


def filled(values: Floats) -> Floats:
    """Replace missing launches of a pair: afterwards it is NaN in all launches or in none."""
    return np.where(np.isfinite(values).any(axis=0), values, 0.0)


@functools.cache
def quantile(tests: int, launches: int, degrees: int) -> float:
    """The number of standard deviations that none of `tests` exceeds in all launches.

    It holds with probability 1 - ERROR_PROBABILITY if the deviation has the given degrees of
    freedom: the mean of Q(t s)^launches over s, with degrees s^2 distributed as chi square. It is
    not Student's quantile, because all launches share one s.
    """
    from scipy.optimize import brentq  # lazy: every command that shows runs would import it
    from scipy.special import gammaincinv, ndtr

    edges = 1 / (1 + np.exp(-np.linspace(-30, 30, 1201)))
    middles = (edges[1:] + edges[:-1]) / 2
    scale = np.sqrt(2 * gammaincinv(degrees / 2, middles) / degrees)

    def excess(quantile: float) -> float:
        all_out = np.sum(np.diff(edges) * ndtr(-quantile * scale) ** launches)
        return float(tests * all_out - ERROR_PROBABILITY)

    return float(brentq(excess, 0, 1e6)) if excess(0) > 0 else 0.0


def median(values: Floats, axis: int) -> Floats:
    """Faster numpy.nanmedian, which takes 100 times as long for short axes; NaN if all are NaN."""
    ordered = np.sort(np.moveaxis(values, axis, -1), axis=-1)  # NaN comes last
    count = np.isfinite(ordered).sum(axis=-1)[..., None]
    low = np.take_along_axis(ordered, np.maximum(count - 1, 0) // 2, -1)
    high = np.take_along_axis(ordered, np.minimum(count // 2, ordered.shape[-1] - 1), -1)
    middle: Floats = ((low + high) / 2)[..., 0]
    return middle


def noise_of(launches: Floats) -> tuple[float, int]:
    """Standard deviation of one launch from the differences between launches of each pair.

    `launches` has shape (launches, pairs). Differences far beyond the usual ones are excluded.
    """
    first, second = np.triu_indices(len(launches), 1)
    differences = np.abs(launches[first] - launches[second])
    differences = differences[np.isfinite(differences)]
    usual = float(np.median(differences)) / 0.6745
    differences = differences[differences <= NOISE_CUT * usual]
    noise = float(np.sqrt(np.mean(differences**2) / 2))
    return noise, launches.shape[1] * (len(launches) - 1)


def lowest_group(middles: Floats, reach: float) -> float:
    """The median of the lowest group of a third of all pairs within `reach` of each other."""
    starts = np.quantile(middles, np.linspace(0, 1, min(len(middles), 40)), method="nearest")
    for start in starts:
        centre = float(start)
        for _ in range(50):
            group = middles[np.abs(middles - centre) <= reach]
            moved = float(np.median(group))
            if moved == centre:
                break
            centre = moved
        if group.size >= BASE_SHARE * middles.size:
            return centre
    return float(np.median(middles))


MINIMAL_RATIO = 1.2
"""Members that are slower by less than this are not named."""
OUTLIER_ERROR_PROBABILITY = 2e-3
"""This probability if single launches are outliers, as often as observed in the data."""
OUTLIER_DOUBT = 1e-3
LAUNCHES_MIN = 2
EXCEPTIONS_SHARE = 0.1
"""A node counts as slow to all peers even if this share of them is not affected."""
BASE_ERRORS = 1.0
"""The margin for the error of the base, in its standard errors."""
PEERS_MIN = 2
"""With only one peer, it cannot be determined which of the two is slow."""
CENTRED_PAIRS_MIN = 6
"""From this many pairs on, the common deviation of a launch is subtracted."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Suspect:
    """A slow member, pair or link, with its ratio to the others over launches.

    `kind` is 'sends', 'receives' or 'node' (both) of the one of `members`, or 'way' (from the first
    to the second of them) or 'link' (both ways). `peers` is the number affected.
    """

    kind: str
    members: tuple[int, ...]
    ratio: Interval
    peers: int = 1


@dataclass(frozen=True)
class PairMapJudgement:
    """The verdict on a map. Ratios are 1 if nothing differs."""

    base_s: float
    noise_relative: float
    threshold_ratio: float
    largest_ratio: float
    """The ratio of the slowest unremarkable pair to the fastest."""
    suspects: list[Suspect]


def judge(times_s: Floats, *, directed: bool = True) -> PairMapJudgement | None:
    """Judge the times between n members in several launches, shape (launches, n, n).

    Rows send, columns receive; NaN marks missing pairs such as the diagonal. Unless `directed`,
    times are symmetric and members have one effect for both. None for fewer than LAUNCHES_MIN
    launches or without pairs.
    """
    logs = np.log(times_s)
    is_measured = np.isfinite(logs).sum(axis=0) >= LAUNCHES_MIN
    if not directed:
        is_measured = np.triu(is_measured | is_measured.T)
        logs = np.where(np.isfinite(logs), logs, logs.transpose(0, 2, 1))
    if not is_measured.any():
        return None
    search = _Search(logs, is_measured, directed)
    suspects = [*search.nodes(), *search.pairs()]
    if directed:
        suspects = _twins(_twins(suspects, "sends", "receives", "node"), "way", "way", "link")
    calm = search.middles[search.unremarkable]
    return PairMapJudgement(
        base_s=math.exp(search.base),
        noise_relative=search.noise,
        threshold_ratio=math.exp(min(search.threshold, LOG_LARGEST)),
        largest_ratio=float(np.exp(calm.max() - calm.min())) if calm.size else 1.0,
        suspects=suspects,
    )


def judge_alone(times_s: Floats) -> PairMapJudgement | None:
    """Judge members by one time each, shape (launches, members); suspects are of kind 'alone'."""
    judgement = judge(times_s[:, :, None])
    if judgement is None:
        return None
    alone = [Suspect("alone", suspect.members[:1], suspect.ratio) for suspect in judgement.suspects]
    return replace(judgement, suspects=alone)


class _Search:
    """Times as logarithms, from which the effects found are subtracted one by one."""

    def __init__(self, logs: Floats, is_measured: Bools, directed: bool) -> None:
        self.directed = directed
        self.is_measured = is_measured
        self.count = int(is_measured.sum())
        launches = logs[:, is_measured]
        middles = median(launches, axis=0)
        if self.count >= CENTRED_PAIRS_MIN:
            launches = launches - median(launches - middles, axis=1)[:, None]
            middles = median(launches, axis=0)
        self.launches = int(np.isfinite(launches).sum(axis=0).min())
        self.noise, self.degrees = noise_of(launches)
        self._set_base(launches, middles)
        self.excess = np.full(logs.shape, np.nan)
        self.excess[:, is_measured] = launches - self.base
        if not directed:
            mirrored = self.excess.transpose(0, 2, 1)
            self.excess = np.where(np.isfinite(self.excess), self.excess, mirrored)
        self.middles = np.full(is_measured.shape, np.nan)
        self.middles[is_measured] = middles
        self.unremarkable = is_measured & (np.abs(self.middles - self.base) <= self.threshold)

    def _set_base(self, launches: Floats, middles: Floats) -> None:
        """The level of the unremarkable pairs, and the threshold above it that chance may reach."""
        self.threshold = self._threshold(self.count)
        for _ in range(3):
            self.base = lowest_group(middles, self.threshold)
            calm = np.abs(middles - self.base) <= self.threshold
            required = max(
                self._threshold(self.count),
                self._for_differences(middles[calm]),
                self._for_outliers(launches - middles),
            )
            if required <= self.threshold:
                break
            self.threshold = required

    def _threshold(self, tests: int, members: int = 1) -> float:
        """The level that none of `tests` medians of `members` exceeds in all launches by chance."""
        deviations = quantile(tests, self.launches, self.degrees)
        spread = 1.0 if members == 1 else math.sqrt(math.pi / 2 / members)
        # All launches are compared with one base, which has its own error.
        of_base = BASE_ERRORS * math.sqrt(
            math.pi / 2 / self.launches / max(1, BASE_SHARE * self.count)
        )
        return max(math.log(MINIMAL_RATIO), (deviations * spread + of_base) * self.noise)

    def _for_differences(self, middles: Floats) -> float:
        """The threshold due to unremarkable pairs that differ consistently in all launches."""
        if middles.size < CENTRED_PAIRS_MIN:
            return 0.0
        deviation = 1.4826 * float(np.median(np.abs(middles - np.median(middles))))
        # The variance of a median of launches is up to pi/2 times that of a mean.
        chance = self.noise**2 * math.pi / 2 / self.launches
        differ = math.sqrt(max(0.0, deviation**2 - chance))
        return differ * -NormalDist().inv_cdf(ERROR_PROBABILITY / self.count)

    def _for_outliers(self, apart: Floats) -> float:
        """The threshold that limits outlying launches to the allowed number, if there are too many.

        `apart` are launches minus the median of their pair. All launches of a pair are outliers
        with probability share^L. Little data cannot prove more outliers than that: they are
        accepted if chance would produce as many once in OUTLIER_DOUBT.
        """
        from scipy.special import bdtr  # lazy: everything that lists results would import it

        values = apart[np.isfinite(apart)]
        share = (OUTLIER_ERROR_PROBABILITY / self.count) ** (1 / self.launches)
        out = int((values > self.threshold).sum())
        if out == 0 or share >= 1 or bdtr(out - 1, values.size, share) < 1 - OUTLIER_DOUBT:
            return 0.0
        return float(np.quantile(values, 1 - share, method="higher"))

    def nodes(self) -> list[Suspect]:
        """Members whose sends or receives are slow with all peers, the clearest first."""
        suspects: list[Suspect] = []
        while True:
            candidates = list(self._candidates())
            if not candidates:
                return suspects
            suspect = max(
                candidates, key=lambda candidate: (candidate.peers, candidate.ratio.median)
            )
            suspects.append(suspect)
            effect = math.log(suspect.ratio.median)
            member = suspect.members[0]
            if suspect.kind != "receives":
                self.excess[:, member, :] -= effect
            if suspect.kind != "sends":
                self.excess[:, :, member] -= effect

    def _candidates(self) -> list[Suspect]:
        """Members whose sends or receives are slow in all launches and with nearly all peers."""
        kinds = ("sends", "receives") if self.directed else ("node",)
        candidates: list[Suspect] = []
        for kind in kinds:
            excess = self.excess.transpose(0, 2, 1) if kind == "receives" else self.excess
            by_launch = median(excess, axis=2)
            by_peer = median(excess, axis=0)
            level = median(by_launch, axis=0)
            peers = np.isfinite(by_peer).sum(axis=1)
            slow = (by_peer >= level[:, None] / 2).sum(axis=1)
            enough = (peers >= PEERS_MIN) & (peers - slow <= np.floor(EXCEPTIONS_SHARE * peers))
            for member in np.flatnonzero(enough):
                launches = by_launch[np.isfinite(by_launch[:, member]), member]
                threshold = self._threshold(len(kinds) * len(level), int(peers[member]))
                if launches.min() > threshold:
                    ratio = _ratio(launches)
                    candidates.append(Suspect(kind, (int(member),), ratio, int(slow[member])))
        return candidates

    def pairs(self) -> list[Suspect]:
        """Pairs that are slow in all launches beyond the effects of their nodes, slowest first."""
        kind = "way" if self.directed else "link"
        with np.errstate(invalid="ignore"):
            least = np.where(self.is_measured, np.nanmin(filled(self.excess), axis=0), -np.inf)
        suspects = []
        for i, j in np.argwhere(least > self.threshold):
            launches = self.excess[:, i, j]
            ratio = _ratio(launches[np.isfinite(launches)])
            suspects.append(Suspect(kind, (int(i), int(j)), ratio))
        return sorted(suspects, key=lambda suspect: -suspect.ratio.median)


def _ratio(launches: Floats) -> Interval:
    return launch_interval(np.exp(launches))


def _twins(suspects: list[Suspect], first: str, second: str, merged_kind: str) -> list[Suspect]:
    """Merges suspects of two kinds about the same members into one of `merged_kind`."""
    waiting = list(suspects)
    merged: list[Suspect] = []
    while waiting:
        suspect = waiting.pop(0)
        members = suspect.members[::-1]
        twin = next(
            (
                candidate
                for candidate in waiting
                if {suspect.kind, candidate.kind} == {first, second}
                and candidate.members == members
            ),
            None,
        )
        if twin is None:
            merged.append(suspect)
            continue
        waiting.remove(twin)
        ratio = Interval(
            math.sqrt(suspect.ratio.median * twin.ratio.median),
            min(suspect.ratio.low, twin.ratio.low),
            max(suspect.ratio.high, twin.ratio.high),
        )
        peers = min(suspect.peers, twin.peers)
        merged.append(Suspect(merged_kind, tuple(sorted(suspect.members)), ratio, peers))
    return merged
