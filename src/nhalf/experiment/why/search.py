"""The search for the switches that carry an effect: group tests, by bisection of mixtures.

Take a chain of mixtures from one that lacks the effect to one that has it, in which each sets one
more switch as in B. Between its ends the time changes, so it changes in the left half or in the
right one: the mixture in the middle tells, and log2 n of them find the switch that makes the
step (adaptive group testing: Dorfman 1943, Sobel and Groll 1959). A switch that needs a partner
makes its step only where the partner is set already; so what was found is set in the next chain,
which then finds the partner, as in delta debugging (Zeller and Hildebrandt 2002). That goes on
until what was found has the whole effect. Switches that only run together are one step.

The search only suspects: wrong turns cost launches, and only the proof names a switch (proof.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nhalf.experiment.turns import Turns, differences
from nhalf.experiment.why.switch import Mixture
from nhalf.statistics.paired import Effect

SEARCH_RATE = 0.01
"""The rate of a wrong turn after one round of one step, about."""
ROUNDS_MOST = 12
LEAST_SHARE = 0.1
"""A part of the difference below this share is not searched for."""
PRIOR_DEGREES_MOST = 8
"""What earlier launches say about the spread counts as this many rounds at most."""


@dataclass
class Suspicion:
    """The switches that a search suspects so far, and among which it still looks for one.

    `groups` holds each step that was found: one switch, or several that only run together.
    """

    groups: list[Mixture] = field(default_factory=list)
    within: tuple[int, ...] = ()

    @property
    def together(self) -> Mixture:
        """All suspected switches."""
        return frozenset().union(*self.groups)


@dataclass
class CauseSearch:
    """One search between `base`, which lacks the effect, and `top`, which has it.

    `total` is the effect of `top` against `base`; its spread counts as that of all
    mixtures until launches say more.
    """

    turns: Turns[Mixture]
    base: Mixture
    top: Mixture
    total: Effect
    suspicion: Suspicion = field(default_factory=Suspicion)

    def run(self) -> None:
        """Suspect switches until they have the whole effect, or none remains."""
        while True:
            low = self.base | self.suspicion.together
            candidates = sorted(self.top - low)
            if not candidates or (self.suspicion.groups and not self._remains(low)):
                return
            group = self._smaller(low, self._step(low, candidates))
            self.suspicion.groups.append(group)
            self.suspicion.within = ()

    def _remains(self, low: Mixture) -> bool:
        """Whether a part of the effect is still missing from a mixture."""
        least = LEAST_SHARE * abs(self.total.log_ratio)
        if not self.turns.runs(low):
            return True
        begin = len(self.turns.rounds)
        missing = Effect.exact(0.0)
        for _ in range(ROUNDS_MOST):
            self.turns.take([low, self.top])
            missing = self._effect(begin, self.top, low)
            if missing.is_within(least, SEARCH_RATE):
                return False
            if missing.is_proven(SEARCH_RATE):
                return abs(missing.log_ratio) >= least
        return abs(missing.log_ratio) >= 2 * least

    def _step(self, low: Mixture, candidates: Sequence[int]) -> Mixture:
        """One of the candidates that changes the time on the way to `top`, or an unseparable group.

        Bisects the chain low, low with the first candidate, with the first two, ...
        """
        chain = [low | frozenset(candidates[:length]) for length in range(len(candidates) + 1)]
        first, last = 0, len(candidates)
        while last - first > 1:
            self.suspicion.within = tuple(candidates[first:last])
            # What does not run without a partner has no effect without it, either.
            lacking = chain[first] if self.turns.runs(chain[first]) else self.base
            middle, is_before = self._halved(chain, lacking, first, last)
            if is_before is None:
                break
            first, last = (first, middle) if is_before else (middle, last)
        return frozenset(candidates[first:last])

    def _smaller(self, low: Mixture, group: Mixture) -> Mixture:
        """What remains of an unseparable group without the parts that it can do without.

        This is ddmin of delta debugging: parts are halves first, then quarters, and so on.
        """
        lacking = low if self.turns.runs(low) else self.base
        parts = 2
        while len(group) > 1:
            members, size = sorted(group), -(-len(group) // parts)
            self.suspicion.within = tuple(members)
            for begin in range(0, len(members), size):
                fewer = group - frozenset(members[begin : begin + size])
                if self._is_before(lacking, low | fewer, low | group):
                    group, parts = fewer, min(max(parts - 1, 2), len(fewer))
                    break
            else:
                if parts == len(group):
                    break
                parts = min(2 * parts, len(group))
        return group

    def _halved(
        self, chain: Sequence[Mixture], lacking: Mixture, first: int, last: int
    ) -> tuple[int, bool | None]:
        """The place nearest to the middle whose mixture runs, and whether the effect is before it.

        None if no mixture between runs.
        """
        middle = (first + last) // 2
        for place in sorted(range(first + 1, last), key=lambda place: abs(place - middle)):
            is_before = self._is_before(lacking, chain[place], chain[last])
            if is_before is not None:
                return place, is_before
        return middle, None

    def _is_before(self, low: Mixture, middle: Mixture, high: Mixture) -> bool | None:
        """Whether the larger part of the effect comes before `middle`; None if that does not run.

        With what is known of the spread one round may be enough.
        """
        begin = len(self.turns.rounds)
        before = after = contrast = Effect.exact(0.0)
        for _ in range(ROUNDS_MOST):
            self.turns.take([low, middle, high])
            if middle in self.turns.fails:
                return None
            before = self._effect(begin, middle, low)
            after = self._effect(begin, high, middle)
            contrast = self._contrast(begin, low, middle, high)
            has_both = before.is_proven(SEARCH_RATE) and after.is_proven(SEARCH_RATE)
            if has_both or contrast.is_proven(SEARCH_RATE):
                break
        return contrast.log_ratio * (before.log_ratio + after.log_ratio) > 0

    def _effect(self, begin: int, upper: Mixture, lower: Mixture) -> Effect:
        """The effect in the rounds from number `begin` on."""
        return self._judged(differences(self.turns.rounds[begin:], upper, lower), 1.0)

    def _contrast(self, begin: int, low: Mixture, middle: Mixture, high: Mixture) -> Effect:
        """The effect from low to middle, less that from middle to high."""
        rounds = self.turns.rounds[begin:]
        logs = [
            2 * turn[middle] - turn[low] - turn[high]
            for turn in rounds
            if low in turn and middle in turn and high in turn
        ]
        # Of launches with equal variances v the contrast has 6 v, a difference 2 v.
        return self._judged(logs, 3.0)

    def _judged(self, logs: Sequence[float], scale: float) -> Effect:
        """An effect whose variance is also that of the difference of A and B, by a scale."""
        own = Effect.of(logs)
        if self.turns.are_exact:
            return Effect.exact(own.log_ratio)
        prior = min(self.total.degrees, PRIOR_DEGREES_MOST)
        return own.moderated(self.total.variance * scale, prior)
