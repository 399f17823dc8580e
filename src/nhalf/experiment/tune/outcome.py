"""Complete tuning and checking: search, file, proof, and their results."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nhalf.base.errors import FailedError, InputError, NhalfError
from nhalf.decide.changes import CurveRatio
from nhalf.experiment.race import AlgorithmGain, TuningCell
from nhalf.experiment.tune.bench import LibraryBench, MeasuredTimes
from nhalf.experiment.tune.prove import (
    EFFECT_LEAST,
    TUNED,
    Activity,
    prove_active,
    refuted,
    trial,
    without_effect,
    wrong_with_file,
)
from nhalf.experiment.tune.search import (
    PROOF_SHARE,
    TRIAL_SHARE,
    SearchResult,
    TuningRequest,
    check_operations,
    rules_for,
    screen_algorithms,
    search,
    slowest,
    with_stand_ins,
)
from nhalf.facts.reported import SettingWitness
from nhalf.mpi.decision_table import NATIVE, Rule, choice

SURE_BYTES = 8192
"""From this many bytes on a bad algorithm is certain to be slow."""
TRIALS_MAX = 4
"""Comparisons with the default before what is left of a file is given up."""


@dataclass(frozen=True)
class Tuned:
    """The result of tuning; without a file, no algorithm won.

    `curves` compare the unmodified library (A) with the file (B) as it was written last. `refuted`
    are cells that such comparisons found slower, `unapplied` those where a rule had no effect:
    their rules were removed from the file. `witness` is what the library itself says of the
    file's variables.
    """

    search: SearchResult
    rules: list[Rule]
    path: Path | None
    variables: dict[str, str]
    activity: Activity | None
    curves: list[CurveRatio]
    refuted: list[TuningCell]
    unapplied: list[TuningCell] = field(default_factory=list)
    witness: SettingWitness | None = None

    def as_json(self) -> dict[str, Any]:
        """The result in `nhalf tune --json`."""
        return {
            "rules": [rule_json(rule) for rule in self.rules],
            "cells": [_cell_json(cell, self) for cell in sorted(self.search.screening)],
            "file": str(self.path) if self.path else None,
            "environment": self.variables,
            "activation": _activity_json(self.activity),
            "witness": _witness_json(self.witness),
            "trial": [curve_json(curve) for curve in self.curves],
            "taken_out": [
                *({**cell._asdict(), "why": "slower"} for cell in self.refuted),
                *({**cell._asdict(), "why": "no effect"} for cell in self.unapplied),
            ],
        }


@dataclass(frozen=True)
class Checked:
    """The result of checking an existing file."""

    rules: list[Rule]
    variables: dict[str, str]
    activity: Activity
    curves: list[CurveRatio]
    witness: SettingWitness | None = None

    def as_json(self) -> dict[str, Any]:
        """The result in `nhalf tune --check --json`."""
        return {
            "rules": [rule_json(rule) for rule in self.rules],
            "environment": self.variables,
            "activation": _activity_json(self.activity),
            "witness": _witness_json(self.witness),
            "trial": [curve_json(curve) for curve in self.curves],
        }


def tune(bench: LibraryBench, request: TuningRequest) -> Tuned:
    """Search, write, prove; a file that is not applied is removed.

    What the comparison with the default refutes is taken out, and the rest is compared again.
    Raises FailedError if the library does not apply it, MissingError where nothing could be
    measured.
    """
    check_operations(bench.tuner, request.operations)
    result = search(bench, request)
    cells = sorted(result.screening)
    won = dict(result.won)
    rules = rules_for(bench.tuner, with_stand_ins(bench.tuner, result, won), cells)
    left_out = [cell for cell in won if choice(rules, *cell) == NATIVE]
    if left_out:
        bench.notes.append(
            f"the file cannot hold all winners: {len(left_out)} of {len(won)} cells have no rule"
        )
    tuned = Tuned(result, [], None, {}, None, [], [])
    budget_s = TRIAL_SHARE * request.budget_s
    for number in range(1, TRIALS_MAX + 1):
        if not rules:
            return tuned
        path = bench.folder / bench.tuner.file_name
        bench.tuner.write(path, rules)
        bench.tuner.read(path)  # as the library would
        if number == 1:
            tuned = replace(tuned, activity=_proven(bench, path, rules, result, request))
        run = "trial" if number == 1 else f"trial-{number}"
        curves = trial(bench, path, cells, budget_s, run)
        slower = _union(refuted(curves), wrong_with_file(bench, run))
        idle = without_effect(curves, won, rules)
        tuned = replace(
            tuned,
            curves=curves,
            refuted=_union(tuned.refuted, slower),
            unapplied=_union(tuned.unapplied, idle),
            witness=_witness(bench, run),
        )
        if not slower and not idle:
            return replace(tuned, rules=rules, path=path, variables=bench.tuner.activate(path))
        bench.tuner.remove(path)
        won = _without(won, [*slower, *idle])
        rules = rules_for(bench.tuner, with_stand_ins(bench.tuner, result, won), cells)
    return tuned


def _union(cells: Sequence[TuningCell], more: Sequence[TuningCell]) -> list[TuningCell]:
    return list(dict.fromkeys([*cells, *more]))


def _proven(
    bench: LibraryBench,
    path: Path,
    rules: Sequence[Rule],
    result: SearchResult,
    request: TuningRequest,
) -> Activity | None:
    """The proof that the library applies a file; one that it does not apply is removed.

    It is at the cell with the largest effect, of the operations with a rule; None without any.
    """
    operations = {rule.operation for rule in rules}
    places = bad_places(bench, result.screening)
    near = [place for place in places if place[0].operation in operations]
    if not near:
        return None

    def write(rule: Rule, worse: Path) -> None:
        bench.tuner.write(worse, [rule, *rules])

    try:
        activity = prove_active(bench, near, write, PROOF_SHARE * request.budget_s)
    except NhalfError:
        bench.tuner.remove(path)
        raise
    if activity.verdict == "not active":
        bench.tuner.remove(path)
        raise FailedError(
            f"{bench.library.name} does not apply the file: {activity.why}",
            "see whether other variables or parameter files choose its algorithms",
        )
    return activity


def check(bench: LibraryBench, path: Path, request: TuningRequest) -> Checked:
    """Read a file strictly, prove that the library applies it, compare it with the default.

    Raises FailedError if the file would be rejected, InputError where there is none.
    """
    rules = bench.tuner.read(path)
    decided = bench.tuner.operations_in(path)
    if not decided:
        raise FailedError(f"{path} decides nothing: every choice is the library's own")
    operations = [name for name in request.operations if name in decided]
    if not operations:
        listed = ",".join(decided)
        raise InputError(f"{path} has rules for {listed} only", f"add --pattern {listed}")
    request = replace(request, operations=tuple(operations))
    screening = screen_algorithms(bench, request)
    share_s = (1 - TRIAL_SHARE) / 2 * request.budget_s
    places = bad_places(bench, screening)
    ruled = [place for place in places if choice(rules, *place[0]) != NATIVE]
    if not places:
        raise FailedError("no algorithm could be measured", "run nhalf doctor")
    places = ruled or places

    def write(rule: Rule, worse: Path) -> None:
        bench.tuner.write_with(path, rule, worse)

    activity = prove_active(bench, places, write, share_s)
    run = "trial"
    curves = trial(bench, path, sorted(screening), TRIAL_SHARE * request.budget_s, run)
    return Checked(rules, bench.tuner.activate(path), activity, curves, _witness(bench, run))


def _witness(bench: LibraryBench, run: str) -> SettingWitness | None:
    """What the library said of the file's variables in a run."""
    return bench.witnesses.get(run, {}).get(TUNED)


def bad_places(bench: LibraryBench, screening: MeasuredTimes) -> list[tuple[TuningCell, str]]:
    """Cells with a bad algorithm: known ones first, then the slowest observed.

    An exact machine shows the slowest ones itself.
    """
    certain = [
        (cell, algorithm)
        for cell in sorted(screening, key=lambda cell: (cell.ranks, -cell.size_bytes))
        if (algorithm := bench.tuner.worst(cell.operation)) and cell.size_bytes >= SURE_BYTES
    ]
    observed = [
        (cell, name) for cell, name, factor in slowest(screening) if math.log(factor) > EFFECT_LEAST
    ]
    # What an exact screening saw is certain, too, and takes fewer messages.
    return observed + certain[:1] if bench.is_exact else certain[:1] + observed


def _without(
    won: Mapping[TuningCell, list[AlgorithmGain]], against: Sequence[TuningCell]
) -> dict[TuningCell, list[AlgorithmGain]]:
    """The winners left after cells turned out slower, or their rules to be without effect.

    If such a cell has no winner, the mere presence of rules costs its operation more than it gains.
    """
    whole = {cell.operation for cell in against if cell not in won}
    return {
        cell: gains
        for cell, gains in won.items()
        if cell not in against and cell.operation not in whole
    }


def rule_json(rule: Rule) -> dict[str, Any]:
    """A rule; a range without an end has null there."""
    ends = {"ranks_to": rule.to_ranks, "bytes_to": rule.to_bytes}
    return {
        "operation": rule.operation,
        "ranks_from": rule.from_ranks,
        "bytes_from": rule.from_bytes,
        **{name: int(end) if math.isfinite(end) else None for name, end in ends.items()},
        "algorithm": rule.algorithm,
    }


def _cell_json(cell: TuningCell, tuned: Tuned) -> dict[str, Any]:
    """A cell: its rule, and the gain with its interval if an algorithm won."""
    gains = tuned.search.won.get(cell, [])
    chosen = choice(tuned.rules, *cell)
    gain = next((gain for gain in gains if gain.algorithm == chosen), None)
    row: dict[str, Any] = {
        **cell._asdict(),
        "algorithm": chosen,
        "decided": cell not in tuned.search.undecided,
        "gain": None,
    }
    if gain is not None:
        low, high = (1 - math.exp(-end) for end in (gain.low, gain.high))
        row["gain"] = {"share": gain.share, "ci": [low, high], "launches": gain.launches}
    return row


def _activity_json(activity: Activity | None) -> dict[str, Any] | None:
    if activity is None:
        return None
    return {**dataclasses.asdict(activity), "cell": activity.cell._asdict()}


def _witness_json(witness: SettingWitness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {"verdict": witness.verdict, **dataclasses.asdict(witness)}


def curve_json(curve: CurveRatio) -> dict[str, Any]:
    """A curve of the last comparison, size by size."""
    return {
        "operation": curve.point["pattern"],
        "ranks": curve.point["ranks"],
        "verdict": curve.verdict,
        "ratio": curve.ratio.ratio,
        "ci": [curve.ratio.low, curve.ratio.high],
        "sizes": [
            {
                "bytes": size.size_bytes,
                "default_s": size.a_s,
                "tuned_s": size.b_s,
                "ratio": size.ratio.ratio,
                "ci": [size.ratio.low, size.ratio.high],
                "verdict": size.verdict,
            }
            for size in curve.sizes
        ],
    }
