"""What improve says of its candidates: in words, and as JSON."""

import math
import shlex
from collections.abc import Iterator
from typing import Any

from nhalf.base.numbers import percent
from nhalf.base.rows import members
from nhalf.base.units import format_duration, format_time
from nhalf.experiment.improve.change import Candidate
from nhalf.experiment.improve.forms import USUAL
from nhalf.experiment.improve.left_behind import LeftBehind
from nhalf.experiment.improve.search import Provable
from nhalf.experiment.improve.trials import CandidateTrial, SearchState, SettingGain
from nhalf.experiment.tune.outcome import rule_json
from nhalf.present.wording import count
from nhalf.statistics.paired import ANALYSES

NEAR = 0.03
"""Factors that are nearer to 1 have one more decimal."""
REASON_MAX = 70
"""Longer reasons are cut in tables; --json has all of them."""
UNTRIED = "There is nothing to try."
NOTHING = "Nothing that was tried is proven to help by more than 1 %."


def verdict(state: SearchState) -> str:
    """The answer in one sentence: how much faster, or that nothing helps."""
    if not state.trials:
        return UNTRIED
    if not state.proven:
        return " ".join([NOTHING, *_unclear(state)])
    names = " and ".join(candidate.name for candidate in state.proven)
    assert state.total is not None
    pairs = count(state.total.pairs, "pair of launches", "pairs of launches")
    return f"{factor_text(state.total)}, {pairs}: {names}."


def provable_text(possible: Provable) -> str:
    """What the search can prove in the time that is left, said before it begins."""
    remaining = format_duration(possible.remaining_s)
    pairs = count(possible.pairs, "pair of launches", "pairs of launches")
    if possible.pairs < ANALYSES.pairs[0]:
        needed = f"a proof takes {ANALYSES.pairs[0]} or more: give a larger --budget"
        return f"the {remaining} left suffice for {pairs}; {needed}"
    if possible.factor is None or possible.spread_share is None:
        return f"the {remaining} left suffice for a proof of up to {pairs}"
    if possible.spread_share == 0.0:
        return f"launches take exactly as long: the {remaining} left can prove any gain above 1 %"
    return (
        f"two launches differ by {percent(possible.spread_share, 1)} at this load: "
        f"the {remaining} left (up to {pairs}) are likely to prove what makes the program "
        f"{factor_number(possible.factor)} times as fast or more; "
        "for smaller gains give a larger --budget"
    )


def _unclear(state: SearchState) -> Iterator[str]:
    """What seems to help but is not proven, and what to do about it."""
    for trial in state.trials.values():
        proof = trial.proof
        if state.fate(trial) == "unclear" and proof is not None and proof.factor > 1:
            if proof.low < 1 < proof.high:
                outcome_text = f"may be faster or slower, {factor_text(proof)}"
            else:
                outcome_text = f"seems to be {factor_text(proof)}"
            yield f"{trial.candidate.name} {outcome_text}: a larger --budget may decide."
    missed = list(state.fates.values()).count("not reached")
    if missed:
        yield f"There was no time for {missed} of {len(state.trials)} candidates."
    elif state.is_out_of_time:
        yield "The budget is spent."


def factor_text(gain: SettingGain) -> str:
    """'1.34 times as fast [1.29, 1.39]'; the interval is left out where times do not vary."""
    text = f"{factor_number(gain.factor)} times as fast"
    if gain.low == gain.high:
        return f"{text} exactly" if gain.pairs > 1 else text
    return f"{text} [{factor_number(gain.low)}, {factor_number(gain.high)}]"


def factor_number(factor: float) -> str:
    """'1.34', and '1.005' of a factor near 1."""
    return f"{factor:.3f}" if abs(factor - 1) < NEAR else f"{factor:.2f}"


def remarks(state: SearchState) -> list[str]:
    """What a file that switches the winner on says of it: the proof, and each change."""
    lines = [f"nhalf improve: {verdict(state)}"]
    for candidate in state.proven:
        lines += [f"{candidate.name}: {candidate.text}", f"to undo: {candidate.undo}"]
    return lines


def left_lines(files: LeftBehind) -> list[str]:
    """How the winner is switched on, and the files that do it."""
    winner = files.winner
    lines = ["Switch it on:", *winner.variable_lines, shlex.join(winner.improved.words)]
    if files.file is not None and files.file != files.tuning_file:
        lines.append(f"{files.form}  {files.file}")
    if files.tuning_file is not None:
        lines.append(f"tuning file  {files.tuning_file}")
    return [*lines, *([files.note] if files.note else [])]


def rows(state: SearchState, bounded: list[Candidate]) -> Iterator[tuple[str, str, str, str]]:
    """One row per candidate: its name, what it may save, how fast it was, what became of it."""
    for trial in state.trials.values():
        candidate = trial.candidate
        reason = state.refused.get(candidate, "")
        short = reason if len(reason) <= REASON_MAX else f"{reason[:REASON_MAX]}…"
        fate = state.fate(trial)
        words = f"{fate}: {short}" if fate == "refused" and reason else fate
        yield candidate.name, _upper(candidate), _speed(trial), words
    for candidate in bounded:
        yield candidate.name, _upper(candidate), "", "not tried: it can save less than 1 %"


def _upper(candidate: Candidate) -> str:
    return percent(candidate.upper_share, 1 if candidate.upper_share < 0.1 else 0)


def _speed(trial: CandidateTrial) -> str:
    if trial.proof is not None:
        return factor_text(trial.proof).replace(" times as fast", "")
    ratio = trial.scouted_factor
    return factor_number(ratio) if ratio is not None else ""


def effort(state: SearchState) -> str:
    """'61 launches in 4 min; the plain program takes 2.1 s, and two launches differ by 3 %'."""
    turns = state.turns
    launches = count(turns.launches, "launch", "launches")
    text = f"{launches} in {format_duration(turns.budget_s - turns.remaining_s)}"
    plain = state.plain_s
    if plain is None:
        return text
    text += f"; the plain program takes {format_time(plain)}"
    return text + (f", two launches differ by {percent(state.spread, 1)}" if state.spread else "")


def search_json(state: SearchState, bounded: list[Candidate]) -> dict[str, Any]:
    """The gain, what is switched on for it, and what became of each candidate."""
    return {
        "plain_s": state.plain_s,
        "spread_share": state.spread,
        "gain": gain_json(state.total),
        "changes": [_change(candidate) for candidate in state.proven],
        "candidates": [
            *(_trial(state, trial) for trial in state.trials.values()),
            *(_candidate(candidate, "bounded") for candidate in bounded),
        ],
        "launches": state.turns.launches,
        "false_share": state.false_share,
        "complete": state.is_complete,
    }


def gain_json(gain: SettingGain | None) -> dict[str, Any] | None:
    """A gain as an object; null for an end that is unknown."""
    if gain is None:
        return None
    return {
        "factor": gain.factor,
        "ci_low": gain.low,
        "ci_high": gain.high if math.isfinite(gain.high) else None,
        "pairs": gain.pairs,
        "proven": gain.is_proven,
    }


def provable_json(possible: Provable | None) -> dict[str, Any] | None:
    """What the search could prove, as was known before it began; null if nothing was tried."""
    return None if possible is None else members(possible, "factor", "pairs", "spread_share")


def left_json(files: LeftBehind | None) -> dict[str, Any]:
    """The files that switch the winner on; `script` is the first of them if it is a script."""
    file = str(files.file) if files is not None and files.file is not None else None
    tuning = str(files.tuning_file) if files is not None and files.tuning_file else None
    form = files.form if files is not None and file else None
    return {
        "script": file if form == USUAL else None,
        "file": file,
        "form": form,
        "tuning_file": tuning,
    }


def _change(candidate: Candidate) -> dict[str, Any]:
    change = candidate.change
    return {
        **members(candidate, "name", "text", "undo"),
        "variables": dict(change.variables),
        "options": list(change.options),
        "launcher": list(change.launcher),
        "rules": [rule_json(rule) for rule in change.rules],
    }


def _trial(state: SearchState, trial: CandidateTrial) -> dict[str, Any]:
    entry = _candidate(trial.candidate, state.fate(trial))
    entry["reason"] = state.refused.get(trial.candidate, "")
    entry["launches_factor"] = trial.scouted_factor
    entry["proof"] = gain_json(trial.proof)
    return entry


def _candidate(candidate: Candidate, fate: str) -> dict[str, Any]:
    return {
        **members(candidate, "name", "text", "upper_share", "expected_share"),
        "fate": fate,
        "reason": "",
        "launches_factor": None,
        "proof": None,
    }
