"""The whole way: do A and B differ, which switches are suspected, is it proven?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from nhalf.base.errors import FailedError
from nhalf.experiment.out_of_time import OutOfTime
from nhalf.experiment.turns import Turns, differences
from nhalf.experiment.why.proof import FALSE_RATE, ROUNDS, Proof, Proving
from nhalf.experiment.why.search import CauseSearch, Suspicion
from nhalf.experiment.why.switch import A_ALONE, Mixture, SettableDifference, whole
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
