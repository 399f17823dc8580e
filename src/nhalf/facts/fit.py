"""From measurements to models: every curve of a run fitted, judged and ready for a machine file."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.operations import COLLECTIVES, OVERLAPPING
from nhalf.base.rows import members
from nhalf.machines import machine
from nhalf.models.forms import Curve
from nhalf.models.forms.packet_steps import PacketSteps
from nhalf.models.forms.segmented import Segmented
from nhalf.models.heldout import heldout_errors
from nhalf.models.line import FittedPiece, piece_intervals
from nhalf.results import parts
from nhalf.results.logp.parameters import each_logp
from nhalf.results.logp.times import LogP
from nhalf.statistics.advice import is_elsewhere
from nhalf.statistics.intervals import Interval, launch_intervals
from nhalf.statistics.same_state import in_one_state
from nhalf.store.keys import RUN_CURVE

SKIPPED_SHARE = 0.5
"""An operation that takes less than this share of that with the fewest bytes is not carried out."""


def valid(summary: pl.DataFrame) -> pl.DataFrame:
    """The points whose data arrived intact in a positive time, without parts of derived results."""
    return summary.filter(
        pl.col("verified") & pl.col("median_s").is_finite() & (pl.col("median_s") > 0),
        ~pl.col("pattern").is_in(list(parts())),
    )


def carried_out(points: pl.DataFrame) -> pl.DataFrame:
    """The points (SUMMARY_COLUMNS) without those of size 0 at which the library does nothing."""
    fewest = (
        points.filter(pl.col("bytes") > 0)
        .sort("bytes")
        .group_by(RUN_CURVE, maintain_order=True)
        .agg(pl.col("median_s").first().alias("fewest_s"))
    )
    is_empty = (pl.col("bytes") == 0) & pl.col("pattern").is_in([*COLLECTIVES, *OVERLAPPING])
    is_skipped = is_empty & (pl.col("median_s") < SKIPPED_SHARE * pl.col("fewest_s"))
    return (
        points.join(fewest, on=RUN_CURVE, how="left", nulls_equal=True, maintain_order="left")
        .filter(~is_skipped.fill_null(False))
        .drop("fewest_s")
    )


SIZES_MIN = 3
"""With fewer sizes, a line adds nothing to the points."""


def fit_summary(summary: pl.DataFrame, launches: pl.DataFrame) -> list[machine.FittedModel]:
    """A segmented model of every curve with three or more sizes, sorted by its key.

    `launches` are the launch medians, `summary` (SUMMARY_COLUMNS, from the same measurements) the
    reported values. Sizes whose data failed verification, whose time is not positive or that were
    measured in another state of the machine are left out, and 0 where the library then does
    nothing.
    """
    return [_fitted(key, curve) for key, curve in curves(summary, launches)]


def fit_loggp(stated: pl.DataFrame) -> list[machine.LogGP]:
    """The parameters of the LogP family for every library for which they were measured.

    `stated` are the visits of launches to points with their states (`stated_visits`).
    """
    return [_loggp(subject, parameters) for subject, parameters in each_logp(stated)]


def _loggp(subject: dict[str, Any], parameters: LogP) -> machine.LogGP:
    members: dict[str, Any] = {}
    for name in (name for name in machine.LogGP.__struct_fields__ if name.endswith("_s")):
        value: Interval | None = getattr(parameters, name)
        if value is not None:
            members[name] = value.median
        if value is not None and parameters.launches > 1:
            members[f"{name.removesuffix('_s')}_ci"] = (value.low, value.high)
    return machine.LogGP(
        **subject,
        **members,
        launches=parameters.launches,
        identifiable=parameters.identifiable,
        sizes=tuple(
            machine.Overheads(
                size_bytes=size.size_bytes,
                send_overhead_s=_median_s(size.send_overhead_s),
                recv_overhead_s=_median_s(size.recv_overhead_s),
                gap_s=_median_s(size.gap_s),
            )
            for size in parameters.sizes
        ),
    )


def _median_s(interval: Interval | None) -> float | None:
    return None if interval is None else interval.median


def machine_of(
    run: str,
    environment: Mapping[str, Any],
    models: Sequence[machine.FittedModel],
    loggp: Sequence[machine.LogGP] = (),
    patterns: Sequence[machine.PatternModel] = (),
) -> machine.Machine:
    """The machine that a run describes, with the basic facts of its environment."""
    facts = {
        str(key): str(value)
        for key, value in environment.items()
        if isinstance(value, str | int | float) and str(value)
    }
    name = facts.get("host") or facts.get("hostname") or run
    return machine.Machine(
        name=name,
        source=f"measured by nhalf, run {run}",
        environment=facts,
        models=tuple(models),
        loggp=tuple(loggp),
        patterns=tuple(patterns),
    )


def curves(summary: pl.DataFrame, launches: pl.DataFrame) -> list[tuple[dict[str, Any], Curve]]:
    """Every curve of a run that can be fitted, with the columns that identify it."""
    sound = valid(summary).filter(~is_elsewhere())
    if sound.is_empty():
        return []
    sound = carried_out(sound)
    by_curve = launches.filter(pl.col("median_s") > 0).partition_by(RUN_CURVE, as_dict=True)
    keyed_curves: list[tuple[dict[str, Any], Curve]] = []
    for values, points in sound.sort([*RUN_CURVE, "bytes"]).group_by(
        RUN_CURVE, maintain_order=True
    ):
        if points["bytes"].n_unique() >= SIZES_MIN:
            key = {
                name: "" if value is None else value
                for name, value in zip(RUN_CURVE, values, strict=True)
            }
            keyed_curves.append((key, _curve(points, by_curve.get(values))))
    return keyed_curves


def _curve(points: pl.DataFrame, launches: pl.DataFrame | None) -> Curve:
    """The curve of one group: reported values and the matrix of launches, NaN if missing.

    On a machine that changed between two states, only the values of one of them.
    """
    size, time = points["bytes"].to_numpy(), points["median_s"].to_numpy()
    low = np.minimum(points["ci_low_s"].fill_null(float("nan")).to_numpy(), time)
    high = np.maximum(points["ci_high_s"].fill_null(float("nan")).to_numpy(), time)
    rows = np.full((0, size.size), np.nan)
    if launches is not None:
        launches = launches.filter(pl.col("bytes").is_in(points["bytes"].to_list()))
        numbers, row = np.unique(launches["launch"].to_numpy(), return_inverse=True)
        rows = np.full((numbers.size, size.size), np.nan)
        rows[row, np.searchsorted(size, launches["bytes"].to_numpy())] = launches["median_s"]
    steady = in_one_state(rows)
    if steady is not rows:
        time, low, high = launch_intervals(steady.T)
    return Curve(size.astype(np.float64), time.astype(np.float64), low, high, steady)


def _fitted(key: dict[str, Any], curve: Curve) -> machine.FittedModel:
    model = Segmented.fit(curve)
    errors = heldout_errors(Segmented, curve)
    judged = errors.size > 0
    return machine.FittedModel(
        **key,
        segments=tuple(_segment(curve, piece) for piece in model.pieces),
        breakpoints=tuple(
            machine.Breakpoint(
                low_bytes=int(change.low_bytes),
                high_bytes=int(change.high_bytes),
                at_bytes=change.at_bytes,
                change_percent=change.change_percent,
                kind="jump" if change.jump else "bend",
            )
            for change in model.breaks
        ),
        heldout_median=float(np.median(errors)) if judged else None,
        heldout_p95=float(np.quantile(errors, 0.95)) if judged else None,
        heldout_sizes=int(errors.size),
        packet_steps=_steps(curve),
    )


def _steps(curve: Curve) -> machine.PeriodicSteps | None:
    steps = PacketSteps.fit(curve)
    if steps.period_bytes is None or steps.offset_bytes is None:
        return None
    names = ("offset_bytes", "period_bytes", "height_s", "height_ci")
    return machine.PeriodicSteps(**members(steps, *names))


def _segment(curve: Curve, piece: FittedPiece) -> machine.Segment:
    intervals = piece_intervals(curve, piece)
    interval_members: dict[str, Any] = {}
    if intervals is not None:
        interval_members = {
            "t0_ci": intervals.t0_s,
            "r_inf_ci": intervals.r_inf_Bps,
            "n_half_ci": intervals.n_half_bytes,
        }
    return machine.Segment(
        from_bytes=int(piece.from_bytes),
        to_bytes=int(piece.to_bytes),
        t0_s=piece.t0_s,
        r_inf_Bps=piece.r_inf_Bps,
        n_half_bytes=piece.n_half_bytes,
        **interval_members,
    )
