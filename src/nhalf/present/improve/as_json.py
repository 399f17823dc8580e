"""What a search for improvements learned, as an object for scripts."""

from __future__ import annotations

import math
from typing import Any

from nhalf.experiment.improve.change import Candidate
from nhalf.experiment.improve.forms import USUAL
from nhalf.experiment.improve.left_behind import LeftBehind
from nhalf.experiment.improve.search import Provable
from nhalf.experiment.improve.trials import CandidateTrial, SearchState, SettingGain
from nhalf.experiment.tune.outcome import rule_json


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
    if possible is None:
        return None
    return {
        "factor": possible.factor,
        "pairs": possible.pairs,
        "spread_share": possible.spread_share,
    }


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
        "name": candidate.name,
        "text": candidate.text,
        "undo": candidate.undo,
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
        "name": candidate.name,
        "text": candidate.text,
        "upper_share": candidate.upper_share,
        "expected_share": candidate.expected_share,
        "fate": fate,
        "reason": "",
        "launches_factor": None,
        "proof": None,
    }
