"""A run against an earlier one, or against a model's prediction, by decide/compare.py.

A curve is one answer: its points are its level over all sizes and every size, its verdict that of
`compare` (decide/changes.py). A model enters as a noiseless run that measured exactly its
predictions, at the sizes and launches of the run.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError
from nhalf.base.listing import ranks_text
from nhalf.base.numbers import percent
from nhalf.decide.changes import Comparison, CurveRatio, Ratio, Worse, tail_name
from nhalf.decide.check.promise import UNVERIFIED, curve_of
from nhalf.decide.check.verdict import (
    Bounds,
    CheckedRun,
    JudgedExpectation,
    Kind,
    PointVerdict,
    Unit,
    Verdict,
)
from nhalf.decide.compare import CONFIDENCE, Sides, compare_all, pair_libraries
from nhalf.facts.facts import Facts
from nhalf.facts.tails import tail_samples
from nhalf.machines.machine import FittedModel, Machine
from nhalf.models.forms.segmented import Break, Segmented
from nhalf.models.line import FittedPiece
from nhalf.statistics.doubt import CERTAIN, Doubt, few_launches
from nhalf.statistics.family import analyses_of
from nhalf.statistics.intervals import Interval
from nhalf.statistics.same_state import LAUNCHES_MIN, same_states
from nhalf.store.keys import COMPARED_CURVE, CURVE, POINT

TOLERANCE = 0.10
"""Two good runs on different days differ by a few percent; users notice only more than that."""
MET: Mapping[Worse, Verdict] = {"worse": "missed", "not worse": "met", "unclear": "unclear"}


def against_former(
    facts: Facts,
    former: pl.DataFrame,
    tolerance: float,
    took_turns: bool = False,
    imported: Sequence[str] = (),
    slower_doubt: Doubt = CERTAIN,
    former_samples: pl.DataFrame | None = None,
) -> CheckedRun:
    """Compare with an earlier run, restricted to the same state of the machine.

    `former` are launches with FLAGGED_COLUMNS (statistics/same_state.py); they `took_turns` with
    those of another library of one run. `imported` names the sides whose state nobody saw,
    `slower_doubt` is why a curve that is slower may be so by something else. `former_samples` are
    those of the earlier run, for its tails.
    """
    former = former.with_columns(pl.col(pl.String).fill_null(""))
    now = facts.flagged
    libraries = pair_libraries(former, now)
    pairs = same_states(former, now, libraries, imported)
    lost = [
        _open({name: row[name] for name in CURVE}, row["doubt"], tolerance) for row in pairs.lost
    ]
    unmeasured = _unmeasured(former, now, libraries)
    sides = Sides(
        pairs.a,
        pairs.b,
        libraries,
        pairs.doubts,
        took_turns,
        paired=pairs.paired,
        analyses=analyses_of(*(place.get("plan", {}) for place in facts.environments.values())),
        slower_doubt=slower_doubt,
        samples=None if former_samples is None else (former_samples, tail_samples(facts)),
    )
    return _against(facts, sides, tolerance, [*lost, *unmeasured], pairs.notes)


def against_run(facts: Facts, former: pl.DataFrame, tolerance: float) -> CheckedRun:
    """One answer per curve that both runs have or that only `former` has (launch medians).

    Also the sizes missing in one of them; those are not failures, because runs choose their own
    sizes.
    """
    former = former.with_columns(pl.col(pl.String).fill_null(""))
    libraries = pair_libraries(former, facts.launches)
    unmeasured = _unmeasured(former, facts.launches, libraries)
    return _against(facts, Sides(former, facts.launches, libraries), tolerance, unmeasured)


def _against(
    facts: Facts,
    sides: Sides,
    tolerance: float,
    further: Sequence[JudgedExpectation],
    notes: Sequence[str] = (),
) -> CheckedRun:
    """The comparison of both sides; `further` are answers about curves without launches."""
    (comparison,) = compare_all([sides], 1 + tolerance)
    answers = [_answer(curve) for curve in (*comparison.curves, *comparison.longer_tails)]
    answers += _without_launches(comparison, tolerance)
    comparison = replace(comparison, not_comparable=_not_compared(comparison, further))
    answers = _with_wrong_data([*answers, *further], facts, tolerance)
    return _checked("baseline", answers, comparison, notes)


def _checked(
    kind: Kind,
    answers: Sequence[JudgedExpectation],
    comparison: Comparison,
    notes: Sequence[str] = (),
) -> CheckedRun:
    not_compared, confidence = tuple(comparison.not_comparable), comparison.confidence
    return CheckedRun(kind, confidence, tuple(answers), not_compared, tuple(notes), comparison)


def _with_wrong_data(
    answers: Sequence[JudgedExpectation], facts: Facts, tolerance: float
) -> list[JudgedExpectation]:
    """The answers, missed where data arrived wrong, whatever the other sizes of a curve took."""
    wrong = facts.summary.filter(~pl.col("verified")).select(POINT)
    points_by_curve: dict[tuple[Any, ...], list[PointVerdict]] = {}
    for row in wrong.to_dicts():
        point = PointVerdict(row, "s", Bounds(high=1 + tolerance), None, "missed", UNVERIFIED)
        points_by_curve.setdefault(tuple(row[name] for name in CURVE), []).append(point)
    judged = []
    for answer in answers:
        key = tuple(answer.points[0].point[name] for name in CURVE)
        missed = tuple(points_by_curve.pop(key, ()))
        if missed:
            measured = [point for point in answer.points if point.verdict != "not measured"]
            answer = replace(answer, points=(*measured, *missed), decided="missed")
        judged.append(answer)
    return judged


def of_libraries(check: CheckedRun, names: Collection[str]) -> CheckedRun:
    """The check without curves that were not measured because their library was left out."""
    answers = tuple(
        answer
        for answer in check.answers
        if answer.verdict != "not measured" or answer.points[0].point.get("mpi", "") in names
    )
    return replace(check, answers=answers)


def _open(key: dict[str, Any], doubt: Doubt, tolerance: float) -> JudgedExpectation:
    """A curve about which nothing can be decided."""
    bounds = Bounds(high=1 + tolerance)
    point = PointVerdict(key, "", bounds, None, "unclear", doubt.reason, doubt.remedy)
    return JudgedExpectation(_name(key), "time", (point,))


def _without_launches(comparison: Comparison, tolerance: float) -> list[JudgedExpectation]:
    """The curves that both sides have, without a launch that can be compared."""
    compared = [{**curve.point, "mpi": curve.mpi} for curve in comparison.curves]
    reasons: dict[tuple[Any, ...], set[str]] = {}
    for row in comparison.not_comparable:
        reasons.setdefault(tuple(row[name] for name in CURVE), set()).add(row["reason"])
    one_sided = ({"only in A"}, {"only in B"})
    keys = (
        dict(zip(CURVE, key, strict=True)) for key, why in reasons.items() if why not in one_sided
    )
    return [
        _open(key, few_launches(0, LAUNCHES_MIN), tolerance) for key in keys if key not in compared
    ]


def against_machine(facts: Facts, machine: Machine, tolerance: float) -> CheckedRun:
    """One answer per model; sizes outside a model are listed, since models do not extrapolate."""
    if not machine.models:
        raise InputError(f"the machine {machine.name} has no model", "fit a run with more sizes")
    promised = pl.DataFrame(
        [{**curve_of(model), "place": place} for place, model in enumerate(machine.models)]
    )
    libraries = pair_libraries(promised, facts.launches)
    frames = [_predicted(machine, facts.launches, promised, pair) for pair in libraries]
    absent = _unmeasured(promised, facts.launches, libraries)
    frames = [frame for frame in frames if not frame.is_empty()]
    if not frames:
        return _checked("machine", absent, Comparison(1 + tolerance, CONFIDENCE, [], []))
    checked = against_run(facts, pl.concat(frames), tolerance)
    return replace(checked, kind="machine", answers=(*checked.answers, *absent))


def model_notes(machine: Machine, tolerance: float) -> list[str]:
    """A warning if the error of a model itself may exceed the tolerance."""
    errors = [model.heldout_p95 for model in machine.models if model.heldout_p95 is not None]
    if not errors or max(errors) <= tolerance:
        return []
    return [
        f"models of {machine.name} are themselves off by up to {percent(max(errors), None)} at "
        f"sizes left out of the fit: with a tolerance of {percent(tolerance, None)} that may show "
        "as missed"
    ]


def _predicted(
    machine: Machine, medians: pl.DataFrame, promised: pl.DataFrame, pair: tuple[str, str]
) -> pl.DataFrame:
    """The launch medians of a run that measures what the models of one library predict."""
    of_library = medians.filter(pl.col("mpi") == pair[1])
    on = COMPARED_CURVE
    rows = of_library.join(promised.filter(pl.col("mpi") == pair[0]).drop("mpi"), on=on)
    frames = [rows.drop("place").clear()]
    for (place,), curve in rows.group_by("place", maintain_order=True):
        model = machine.models[int(place)]
        first, last = model.segments[0].from_bytes, model.segments[-1].to_bytes
        inside = curve.filter(pl.col("bytes").is_between(first, last)).drop("place")
        sizes = inside["bytes"]
        # Published segments meet without a break between them.
        predicted_s = (
            as_model(model).predict_s(sizes.to_numpy())
            if model.breakpoints
            else [model.time_s(size) for size in sizes]
        )
        times_s = pl.Series("median_s", predicted_s)
        frames.append(inside.with_columns(times_s, times_s.alias("lowest_s")))
    return pl.concat(frames).with_columns(mpi=pl.lit(pair[0]))


def as_model(model: FittedModel) -> Segmented:
    """The model of a machine file, ready to predict."""
    pieces = [
        FittedPiece(float(s.from_bytes), float(s.to_bytes), s.t0_s, 1 / s.r_inf_Bps)
        for s in model.segments
    ]
    breaks = [
        Break(b.low_bytes, b.high_bytes, b.at_bytes, b.change_percent, b.kind == "jump")
        for b in model.breakpoints
    ]
    return Segmented(tuple(pieces), tuple(breaks))


def _answer(curve: CurveRatio) -> JudgedExpectation:
    """A curve: its level first, then its sizes."""
    key = {**curve.point, "mpi": curve.mpi_b}
    level = Interval(curve.ratio.ratio, curve.ratio.low, curve.ratio.high)
    points = [_judged(curve, key, "", Bounds(high=curve.threshold), level, curve.ratio)]
    for size in curve.sizes:
        point = {**key, "bytes": size.size_bytes}
        bounds = Bounds(high=size.a_s * curve.threshold)
        value = _time(size.a_s, size.b_s, size.ratio)
        points.append(_judged(curve, point, "s", bounds, value, size.ratio))
    name = ", ".join(filter(None, (_name(key), tail_name(curve.quantile_share))))
    metric = "time" if curve.quantile_share is None else "tail"
    return JudgedExpectation(name, metric, tuple(points), decided=MET[curve.worse])


def _judged(
    curve: CurveRatio,
    point: dict[str, Any],
    unit: Unit,
    bounds: Bounds,
    measured: Interval,
    ratio: Ratio,
) -> PointVerdict:
    """The verdict on the level or on a size, from its interval."""
    verdict = MET[curve.worse_at(ratio)]
    doubt = curve.doubt if verdict == "unclear" else CERTAIN
    return PointVerdict(point, unit, bounds, measured, verdict, doubt.reason, doubt.remedy)


def _time(a_s: float, b_s: float, ratio: Ratio) -> Interval:
    """The time of B with the interval of the ratio, extended to contain the reported value."""
    low, high = a_s * ratio.low, a_s * ratio.high
    return Interval(b_s, float(np.minimum(low, b_s)), float(np.maximum(high, b_s)))


def _unmeasured(
    a: pl.DataFrame, b: pl.DataFrame, libraries: Sequence[tuple[str, str]]
) -> list[JudgedExpectation]:
    """The curves of A that are missing in B, by paired libraries: expected but not measured."""
    curves = a.select(CURVE).unique(maintain_order=True)
    paired = [
        curves.filter(pl.col("mpi") == mpi_a)
        .join(b.filter(pl.col("mpi") == mpi_b), on=COMPARED_CURVE, how="semi")
        .unique()
        for mpi_a, mpi_b in libraries
    ]
    paired_curves = pl.concat([curves.clear(), *paired])
    missing = curves.join(paired_curves, on=CURVE, how="anti", maintain_order="left")
    reason = "this curve was not measured"
    return [
        JudgedExpectation(
            _name(key), "time", (PointVerdict(key, "s", Bounds(), None, "not measured", reason),)
        )
        for key in missing.to_dicts()
    ]


def _not_compared(
    comparison: Comparison, further: Sequence[JudgedExpectation]
) -> list[dict[str, Any]]:
    """Sizes and curves missing on one side, except curves that already have an answer."""
    reasons = {"only in A": "only expected", "only in B": "only measured"}
    answered = [answer.points[0].point for answer in further]
    rows = [
        {**row, "reason": reasons.get(row["reason"], row["reason"])}
        for row in comparison.not_comparable
    ]
    return [row for row in rows if {name: row[name] for name in CURVE} not in answered]


def _name(key: dict[str, Any]) -> str:
    """A curve in words: 'pingpong, mpich-5.0.2, 2 ranks, cores'."""
    algorithm = "" if key["algorithm"] == "native" else key["algorithm"]
    pattern = "/".join(filter(None, (key["pattern"], algorithm)))
    place = [key["placement"], key["axes"]]
    parts = [pattern, carrier(key["mpi"], key["transport"]), ranks_text(key["ranks"]), *place]
    return ", ".join(part for part in parts if part)
