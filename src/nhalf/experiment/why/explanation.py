"""Do A and B differ, which switches carry the difference, how much, and how it was proven."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

from nhalf.base.errors import FailedError
from nhalf.experiment.turns import OutOfTime, Turns, differences
from nhalf.experiment.why.proof import FALSE_RATE, ROUNDS, Proof, Proving
from nhalf.experiment.why.search import CauseSearch, Suspicion
from nhalf.experiment.why.switch import A_ALONE, Mixture, SettableDifference, Ways, named, whole
from nhalf.statistics.intervals import Interval, ratio_interval
from nhalf.statistics.paired import ANALYSES, Effect

DIFFERS_RATE = 0.005
"""The rate at which equal ways are said to differ, at most."""
EQUAL_RATE = 0.05
"""The rate at which the interval that shows equality misses the truth, at each analysis."""
SHOWN_RATE = 0.01
"""The rate at which the interval of equal ways excludes equality, so that more rounds follow."""
COMPARED = ANALYSES.until(56)
"""The numbers of rounds after which A and B are compared; the last only while that is unclear."""
ATTEMPTS_MOST = 4
CARRIES_TOO = 0.5
"""Everything else carries the effect as well if its share is at least this."""
LEAST_CHANGE = 0.02

Verdict = Literal["equal", "explained", "unexplained", "unfinished"]


@dataclass
class Investigation:
    """What is known so far, which an interruption leaves as it is.

    `proofs` are the sets of switches that are proven, each of which carries the effect alone.
    `refuted` are attempts whose suspicion did not hold. `why_ended` is '' if nothing was cut short.
    """

    turns: Turns[Mixture]
    switches: Sequence[SettableDifference]
    least_share: float = LEAST_CHANGE
    difference: Effect | None = None
    is_different: bool | None = None
    suspicion: Suspicion = field(default_factory=Suspicion)
    proofs: list[Proof] = field(default_factory=list)
    refuted: list[Proof] = field(default_factory=list)
    why_ended: str = ""

    @property
    def verdict(self) -> Verdict:
        """The answer in a word."""
        if self.proofs:
            return "explained"
        if self.is_different is None:
            return "unfinished"
        if not self.is_different:
            return "equal"
        return "unfinished" if self.why_ended else "unexplained"

    def run(self) -> None:
        """Investigate until everything is known or the budget is spent.

        Raises FailedError if A or B does not run.
        """
        try:
            self._compare()
            if self.is_different and self.switches:
                self._explain(A_ALONE, whole(self.switches))
        except OutOfTime as error:
            self.why_ended = str(error)
        except KeyboardInterrupt:
            self.why_ended = "interrupted"
            raise

    def _compare(self) -> None:
        """Launch A and B in turns until they differ, are equal, or the last analysis is over."""
        a, b = A_ALONE, whole(self.switches)
        for side, mixture in (("A", a), ("B", b)):
            if not self.turns.runs(mixture):
                raise FailedError(
                    f"{side} does not run: {self.turns.fails[mixture]}", "try it by itself first"
                )
        if a == b:
            self.is_different = False
            return
        begin = len(self.turns.rounds)
        rate = COMPARED.part(DIFFERS_RATE)
        least = math.log1p(self.least_share)
        for number in range(1, COMPARED.pairs[-1] + 1):
            self.turns.take([a, b])
            logs = differences(self.turns.rounds[begin:], b, a)
            self.difference = Effect.exact(logs[0]) if self.turns.are_exact else Effect.of(logs)
            if not self.turns.are_exact and number not in COMPARED.pairs:
                continue
            if self.difference.is_proven(rate) and abs(self.difference.log_ratio) >= least:
                self.is_different = True
                return
            is_within = self.difference.is_within(least, EQUAL_RATE)
            is_shown = self.difference.is_proven(SHOWN_RATE)
            if self.turns.are_exact or is_within or (number >= ROUNDS.pairs[-1] and not is_shown):
                self.is_different = False
                return
        self.why_ended = "the difference is not proven: launches differ too much by themselves"

    def _explain(self, base: Mixture, top: Mixture) -> None:
        """Search and prove; then search in everything else if it carries the effect as well."""
        proof = self._proven(base, top)
        while proof is not None:
            self.proofs.append(proof)
            remainder = proof.remainder_share
            top -= proof.suspects
            if remainder is None or remainder.low < CARRIES_TOO or not top - base:
                return
            proof = self._proven(base, top)

    def _proven(self, base: Mixture, top: Mixture) -> Proof | None:
        """A set that is proven; None if none is."""
        assert self.difference is not None
        self.suspicion = Suspicion()
        CauseSearch(self.turns, base, top, self.difference, self.suspicion).run()
        groups = list(self.suspicion.groups)
        while groups and len(self.refuted) + len(self.proofs) < ATTEMPTS_MOST:
            proof = Proving(self.turns, base, top, groups, self._rate).run()
            if proof.holds:
                return proof
            self.refuted.append(proof)
            good_groups = [m.switches for m in proof.members if m.is_proven or m.is_needed]
            if not any(member.is_proven for member in proof.members):
                return None
            groups = good_groups
        return None

    @property
    def _rate(self) -> float:
        """The rate of false accusations of the next attempt: half of that of the last one."""
        return FALSE_RATE * 0.5 ** (1 + len(self.refuted) + len(self.proofs))


@dataclass(frozen=True)
class Explanation:
    """All that is known at the end, or at an interruption.

    `causes` are sets of switches that carry the difference, each with its proof.
    """

    ways: Ways
    verdict: Verdict
    ratio: Interval | None
    a_s: float
    b_s: float
    causes: Sequence[Proof]
    suspected: Sequence[SettableDifference]
    does_not_run: Sequence[tuple[Sequence[SettableDifference], str]]
    launches: int
    mixtures: int
    why_ended: str
    least_share: float

    @property
    def is_within_least(self) -> bool:
        """Whether the interval of the ratio leaves no room for a difference that counts."""
        least = 1 + self.least_share
        return self.ratio is not None and 1 / least < self.ratio.low <= self.ratio.high < least

    @property
    def is_answered(self) -> bool:
        """Whether the difference is explained, or there is none."""
        return self.verdict in ("equal", "explained")

    def named(self, mixture: Mixture) -> list[SettableDifference]:
        """The switches of a mixture."""
        return named(self.ways.switches, mixture)

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf why --json`."""
        return {
            "verdict": self.verdict,
            "ratio": _interval_json(self.ratio),
            "a_s": self.a_s,
            "b_s": self.b_s,
            **self.ways.as_json(),
            "causes": [self._cause_json(cause) for cause in self.causes],
            "suspected": [switch.as_json() for switch in self.suspected],
            "does_not_run": [
                {"as_in_b": [switch.name for switch in switches], "reason": reason}
                for switches, reason in self.does_not_run
            ],
            "launches": self.launches,
            "mixtures": self.mixtures,
            "ended": self.why_ended,
        }

    def _cause_json(self, cause: Proof) -> dict[str, Any]:
        return {
            "share": _interval_json(cause.share),
            "remainder_share": _interval_json(cause.remainder_share),
            "together": cause.is_joint,
            "rounds": cause.rounds,
            "launches": cause.launches,
            "members": [
                {
                    "switches": [switch.as_json() for switch in self.named(member.switches)],
                    "share": _interval_json(member.share),
                    "ratio": _interval_json(member.ratio),
                    "needed_to_run": member.is_only_needed,
                }
                for member in cause.largest_first
            ],
        }


def explanation(ways: Ways, investigation: Investigation) -> Explanation:
    """What an investigation says, finished or not."""
    switches, turns = ways.switches, investigation.turns
    a, b = A_ALONE, whole(switches)
    verdict = investigation.verdict
    if verdict == "equal" and ways.is_recorded_different:
        verdict = "unexplained"
    suspicion = investigation.suspicion
    suspects = suspicion.together.union(suspicion.within) if verdict == "unfinished" else ()
    return Explanation(
        ways=ways,
        verdict=verdict,
        ratio=_ratio(investigation, b, a),
        a_s=_typical_s(investigation, a),
        b_s=_typical_s(investigation, b),
        causes=tuple(investigation.proofs),
        suspected=named(switches, suspects),
        does_not_run=[(named(switches, mixture), why) for mixture, why in turns.fails.items()],
        launches=turns.launches,
        mixtures=len({mixture for turn in turns.rounds for mixture in turn}),
        why_ended=investigation.why_ended,
        least_share=investigation.least_share,
    )


def _ratio(investigation: Investigation, upper: Mixture, lower: Mixture) -> Interval | None:
    """B's time over A's from all rounds with both; None before the first."""
    rounds = investigation.turns.rounds
    ratios = [math.exp(turn[upper] - turn[lower]) for turn in rounds if {upper, lower} <= set(turn)]
    return ratio_interval(ratios) if ratios else None


def _typical_s(investigation: Investigation, mixture: Mixture) -> float:
    """The median time of a mixture's launches, seconds; NaN without one."""
    logs = [turn[mixture] for turn in investigation.turns.rounds if mixture in turn]
    return math.exp(median(logs)) if logs else math.nan


def _interval_json(interval: Interval | None) -> dict[str, float] | None:
    if interval is None:
        return None
    return {"value": interval.median, "low": interval.low, "high": interval.high}
