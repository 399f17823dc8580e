# SPDX-License-Identifier: Apache-2.0
"""What a search for improvements learned, in words."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent
from nhalf.base.units import format_duration, format_time
from nhalf.decide.improve.candidate import Candidate
from nhalf.decide.improve.search import Search, Trial
from nhalf.decide.improve.sequential import Gain

NOTHING = "Nothing that was tried is proven to help by more than 1 %."


def verdict(state: Search) -> str:
    """The answer in one sentence: how much faster, or that nothing helps."""
    if not state.proven:
        return NOTHING
    names = " and ".join(candidate.name for candidate in state.proven)
    if state.total is None:
        return f"Faster {names}; how much together was not measured for lack of time."
    return f"{factor_text(state.total)} {names}, {pairs_text(state.total)}."


def factor_text(gain: Gain) -> str:
    """'1.34 times as fast [1.29, 1.39]'; the interval is left out where times do not vary."""
    text = f"{gain.factor:.2f} times as fast"
    if gain.low == gain.high:
        return f"{text} exactly" if gain.pairs > 1 else text
    return f"{text} [{gain.low:.2f}, {gain.high:.2f}]"


def pairs_text(gain: Gain) -> str:
    """'12 pairs of launches'."""
    return "1 pair of launches" if gain.pairs == 1 else f"{gain.pairs} pairs of launches"


def remarks(state: Search) -> list[str]:
    """What a file that switches the winner on says of it: the proof, and each change."""
    lines = [f"nhalf improve: {verdict(state)}"]
    for candidate in state.proven:
        lines += [f"{candidate.name}: {candidate.text}", f"to undo: {candidate.undo}"]
    return lines


def rows(state: Search, bounded: list[Candidate]) -> Iterator[tuple[str, str, str, str]]:
    """One row per candidate: its name, what it may save, how fast it was, what became of it."""
    for trial in state.trials.values():
        candidate = trial.candidate
        reason = state.turns.refused.get(candidate, "")
        fate = f"{trial.fate}: {reason}" if trial.fate == "refused" and reason else trial.fate
        yield candidate.name, _upper(candidate), _speed(trial), fate
    for candidate in bounded:
        yield candidate.name, _upper(candidate), "", "not tried: it can save less than 1 %"


def _upper(candidate: Candidate) -> str:
    return percent(candidate.upper_share, 1 if candidate.upper_share < 0.1 else 0)


def _speed(trial: Trial) -> str:
    if trial.proof is not None:
        return factor_text(trial.proof).replace(" times as fast", "")
    ratio = trial.scouted_factor
    return f"{ratio:.2f}" if ratio is not None else ""


def effort(state: Search) -> str:
    """'61 launches in 4 min; the plain program takes 2.1 s, and two launches differ by 3 %'."""
    turns = state.turns
    text = f"{turns.launches} launches in {format_duration(turns.budget_s - turns.remaining_s)}"
    plain = state.plain_s
    if plain is None:
        return text
    text += f"; the plain program takes {format_time(plain)}"
    return text + (f", two launches differ by {percent(state.spread, 1)}" if state.spread else "")
