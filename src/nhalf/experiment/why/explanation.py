"""The answer: which switches carry the difference, how much of it, and how that was proven."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nhalf.experiment.why.investigate import Investigation, Verdict
from nhalf.experiment.why.proof import Proof, SuspectedStep
from nhalf.experiment.why.switch import A_ALONE, Mixture, SettableDifference, named, whole
from nhalf.experiment.why.ways import Ways
from nhalf.statistics.intervals import Interval, ratio_interval

RATIO_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Named:
    """A proven member: its switches, and the share of the difference that is lost without it."""

    switches: Sequence[SettableDifference]
    share: Interval | None
    ratio: Interval | None
    is_needed: bool


@dataclass(frozen=True)
class Cause:
    """A set of switches that carries the difference, with its proof."""

    members: Sequence[Named]
    share: Interval | None
    remainder_share: Interval | None
    is_joint: bool
    rounds: int
    launches: int


@dataclass(frozen=True)
class Explanation:
    """All that is known at the end, or at an interruption."""

    ways: Ways
    verdict: Verdict
    ratio: Interval | None
    a_s: float
    b_s: float
    causes: Sequence[Cause]
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

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf why --json`."""
        return {
            "verdict": self.verdict,
            "ratio": _interval_json(self.ratio),
            "a_s": self.a_s,
            "b_s": self.b_s,
            **self.ways.as_json(),
            "causes": [_cause_json(cause) for cause in self.causes],
            "suspected": [switch.as_json() for switch in self.suspected],
            "does_not_run": [
                {"as_in_b": [switch.name for switch in switches], "reason": reason}
                for switches, reason in self.does_not_run
            ],
            "launches": self.launches,
            "mixtures": self.mixtures,
            "ended": self.why_ended,
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
        causes=[_cause(investigation, proof) for proof in investigation.proofs],
        suspected=named(switches, suspects),
        does_not_run=[(named(switches, mixture), why) for mixture, why in turns.fails.items()],
        launches=turns.launches,
        mixtures=len({mixture for turn in turns.rounds for mixture in turn}),
        why_ended=investigation.why_ended,
        least_share=investigation.least_share,
    )


def _cause(investigation: Investigation, proof: Proof) -> Cause:
    members = [_member(investigation, member) for member in proof.members]
    return Cause(
        members=sorted(members, key=lambda m: -abs(m.share.median) if m.share else 0.0),
        share=proof.share,
        remainder_share=proof.remainder_share,
        is_joint=proof.is_joint,
        rounds=proof.rounds,
        launches=proof.launches,
    )


def _member(investigation: Investigation, member: SuspectedStep) -> Named:
    effect = member.effect
    ratio = None
    if effect.degrees:
        low, high = effect.interval(1 - RATIO_CONFIDENCE)
        ratio = Interval(effect.ratio, low, high)
    switches = named(investigation.switches, member.switches)
    return Named(switches, member.share, ratio, member.is_needed and not member.is_proven)


def _ratio(investigation: Investigation, upper: Mixture, lower: Mixture) -> Interval | None:
    """B's time over A's from all rounds with both; None before the first."""
    rounds = investigation.turns.rounds
    ratios = [math.exp(turn[upper] - turn[lower]) for turn in rounds if {upper, lower} <= set(turn)]
    return ratio_interval(ratios, RATIO_CONFIDENCE) if ratios else None


def _typical_s(investigation: Investigation, mixture: Mixture) -> float:
    """The median time of a mixture's launches, seconds; NaN without one."""
    logs = sorted(turn[mixture] for turn in investigation.turns.rounds if mixture in turn)
    if not logs:
        return math.nan
    middle = len(logs) // 2
    return math.exp(logs[middle] if len(logs) % 2 else (logs[middle - 1] + logs[middle]) / 2)


def _cause_json(cause: Cause) -> dict[str, Any]:
    return {
        "share": _interval_json(cause.share),
        "remainder_share": _interval_json(cause.remainder_share),
        "together": cause.is_joint,
        "rounds": cause.rounds,
        "launches": cause.launches,
        "members": [
            {
                "switches": [switch.as_json() for switch in member.switches],
                "share": _interval_json(member.share),
                "ratio": _interval_json(member.ratio),
                "needed_to_run": member.is_needed,
            }
            for member in cause.members
        ],
    }


def _interval_json(interval: Interval | None) -> dict[str, float] | None:
    if interval is None:
        return None
    return {"value": interval.median, "low": interval.low, "high": interval.high}
