"""The proof: what was suspected carries the effect, by launches that the search did not use.

In turns are launched A, B, the suspected switches alone (C), everything else alone, and C without
each of its members. A member is proven where C without it takes another time than C; what C
carries is a share of the difference of A and B,

    share = (t_C - t_A) / (t_B - t_A)

with the interval of E. Fieller (Some problems in interval estimation, J. R. Stat. Soc. B 16 (1954)
175): all shares s for which t_C - t_A - s (t_B - t_A) is not proven to differ from 0.

The rate of false accusations is that of this test alone, however long the search was. It is shared
equally by the members and by the analyses, and halved from one attempt to the next.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.experiment.turns import OutOfTime, Round, Turns, differences
from nhalf.experiment.why.search import LEAST_SHARE
from nhalf.experiment.why.switch import Mixture
from nhalf.statistics.intervals import Floats, Interval, student_quantile
from nhalf.statistics.paired import ANALYSES, Effect

ROUNDS = ANALYSES.until(28)
"""The numbers of rounds after which there is a test."""
FALSE_RATE = 0.005
"""The rate at which a whole search names a switch without an effect, at most."""
JOINT = 0.8
"""Members act only together if this part of the effect, or more, is lost without each."""
RATIO_CONFIDENCE, SHARE_CONFIDENCE = 0.95, 0.95
SHARE_REACH = 0.1
"""More rounds follow while the interval of a share reaches further than this."""
SHARE_ROUNDS_MOST = 12
"""No rounds are spent on the interval of a share beyond these."""


@dataclass(frozen=True)
class SuspectedStep:
    """One step of the suspicion: one switch, or several that only run together.

    `effect` is that of C against C without it; `is_proven`, or `is_needed` because C does not run
    without it.
    """

    switches: Mixture
    effect: Effect
    is_proven: bool
    is_needed: bool
    share: Interval | None

    @property
    def ratio(self) -> Interval | None:
        """The ratio of times with and without it; None of fewer than two rounds."""
        if not self.effect.degrees:
            return None
        return Interval(self.effect.ratio, *self.effect.interval(1 - RATIO_CONFIDENCE))

    @property
    def is_only_needed(self) -> bool:
        """Whether it is needed to run, without its own effect proven."""
        return self.is_needed and not self.is_proven


@dataclass(frozen=True)
class Proof:
    """What the launches of one attempt say: of each member, of C, and of everything else."""

    members: tuple[SuspectedStep, ...]
    share: Interval | None
    remainder_share: Interval | None
    rounds: int
    launches: int
    false_share: float

    @property
    def suspects(self) -> Mixture:
        """All switches of C."""
        return frozenset().union(*(member.switches for member in self.members))

    @property
    def largest_first(self) -> list[SuspectedStep]:
        """The members by what is lost without each."""
        return sorted(self.members, key=lambda m: -abs(m.share.median) if m.share else 0.0)

    @property
    def is_joint(self) -> bool:
        """Whether members have the effect only together: without any of them it is gone."""
        shares = [member.share.median for member in self.members if member.share]
        if len(shares) < 2 or self.share is None:
            return False
        return all(share >= JOINT * self.share.median for share in shares)

    @property
    def holds(self) -> bool:
        """Whether every member is proven, or needed by one that is."""
        proven = [member.is_proven for member in self.members]
        return any(proven) and all(member.is_proven or member.is_needed for member in self.members)


@dataclass(frozen=True)
class Proving:
    """An attempt: groups of switches that carry the effect of `top` against `base`."""

    turns: Turns[Mixture]
    base: Mixture
    top: Mixture
    groups: Sequence[Mixture]
    false_share: float

    def run(self) -> Proof:
        """Launch in turns until every member is proven, or the last analysis is over.

        A budget that ends after a member was proven does not undo that.
        """
        begin, launches = len(self.turns.rounds), self.turns.launches
        proof = self._judged(begin, launches)
        for number in range(1, ROUNDS.pairs[-1] + 1):
            try:
                without = [self._suspects - group for group in self.groups]
                mixtures = (self.base, self.top, self._suspects, self._remainder, *without)
                self.turns.take(mixtures)
            except OutOfTime:
                if proof.holds:
                    return proof
                raise
            if self.turns.are_exact or number in ROUNDS.pairs:
                proof = self._judged(begin, launches)
                if self.turns.are_exact or self._is_done(proof, number):
                    break
        return proof

    @property
    def _suspects(self) -> Mixture:
        return self.base.union(*self.groups)

    @property
    def _remainder(self) -> Mixture:
        return self.base | (self.top - self._suspects)

    def _is_done(self, proof: Proof, number: int) -> bool:
        is_wide = (
            proof.share is not None
            and number < SHARE_ROUNDS_MOST
            and proof.share.high - proof.share.low > 2 * SHARE_REACH
        )
        return proof.holds and not is_wide

    def _judged(self, begin: int, launches: int) -> Proof:
        rounds = self.turns.rounds[begin:]
        rate = ROUNDS.part(self.false_share / len(self.groups))
        remainder = self._share(rounds, self._remainder, self.base)
        return Proof(
            members=tuple(self._member(rounds, group, rate) for group in self.groups),
            share=self._share(rounds, self._suspects, self.base),
            remainder_share=remainder,
            rounds=len(rounds),
            launches=self.turns.launches - launches,
            false_share=self.false_share,
        )

    def _member(
        self, rounds: Sequence[Round[Mixture]], group: Mixture, rate: float
    ) -> SuspectedStep:
        without = self._suspects - group
        logs = differences(rounds, self._suspects, without)
        total = Effect.of(differences(rounds, self.top, self.base)).log_ratio
        effect = Effect.exact(logs[0]) if logs and self.turns.are_exact else Effect.of(logs)
        is_large = abs(effect.log_ratio) >= LEAST_SHARE * abs(total)
        return SuspectedStep(
            switches=group,
            effect=effect,
            is_proven=effect.is_proven(rate) and is_large,
            is_needed=without in self.turns.fails,
            share=self._share(rounds, self._suspects, without),
        )

    def _share(
        self, rounds: Sequence[Round[Mixture]], upper: Mixture, lower: Mixture
    ) -> Interval | None:
        """What `upper` against `lower` is of the difference; None without an interval."""
        mixtures = (upper, lower, self.top, self.base)
        whole = [
            [turn[mixture] for mixture in mixtures]
            for turn in rounds
            if all(mixture in turn for mixture in mixtures)
        ]
        if not whole:
            return None
        logs = np.array(whole)
        # Relative to the round, so that what lasts for a round does not weigh.
        times = np.exp(logs - logs.mean(axis=1, keepdims=True))
        part, difference = times[:, 0] - times[:, 1], times[:, 2] - times[:, 3]
        return share_interval(part, difference, is_exact=self.turns.are_exact)


def share_interval(
    part: Floats, difference: Floats, confidence: float = SHARE_CONFIDENCE, is_exact: bool = False
) -> Interval | None:
    """The ratio of the means of two paired numbers, by Fieller's theorem.

    None where the difference is not proven, so that the interval has no end, and of one pair that
    is not exact.
    """
    mean_part, mean = float(part.mean()), float(difference.mean())
    if mean == 0:
        return None
    centre = mean_part / mean
    count = len(part)
    if is_exact:
        return Interval(centre, centre, centre)
    if count < 2:
        return None
    quantile = student_quantile(count - 1, confidence)
    covariance = np.cov(part, difference) / count
    square = quantile**2
    a = mean**2 - square * covariance[1, 1]
    b = mean_part * mean - square * covariance[0, 1]
    c = mean_part**2 - square * covariance[0, 0]
    inner = b**2 - a * c
    if a <= 0 or inner < 0:
        return None
    reach = math.sqrt(inner)
    return Interval(centre, min((b - reach) / a, centre), max((b + reach) / a, centre))
