"""Numbers of a run, with their intervals."""

import math
from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from nhalf.base.errors import InputError, library_named
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.multicast import HOST_CPU, HOST_CPU_SHARE
from nhalf.machines.curve import is_between_nodes
from nhalf.machines.machine import FittedModel, Segment
from nhalf.machines.spread import spans_nodes
from nhalf.statistics.summary import VIRTUAL, VIRTUAL_NOISE
from nhalf.store.keys import RUN_POINT, axis, value
from nhalf.studies.counted import counted, is_counted
from nhalf.studies.derived import WITHOUT_NOISE, derived, is_derived, is_placed
from nhalf.studies.form import ROOT, Quantity
from nhalf.studies.node_figures import NODE_FIGURES
from nhalf.studies.phases import at_phase
from nhalf.studies.recorded import parameter
from nhalf.studies.value import Launch, StudyValue

MESSAGES = ("mpi", "model", "simulated")
"""Transports that pass messages as MPI does: the model machine stands for a library."""
MEASURED = "measured"
PAIRS_OF_RANKS = ("pingpong", "pingping", "exchange")
ENDS = ("median_s", "low_s", "high_s")


class Measured:
    """The numbers of one library of a run for each transport."""

    needs_intervals = True

    def __init__(self, name: str, facts: Facts, library: str = "") -> None:
        self.name, self._facts, self._library = name, facts, library
        columns = ("transport", "mpi", "pattern")
        rows = facts.sound.select(columns).unique().sort(columns)
        self._libraries: dict[str, list[str]] = {}
        self._patterns: dict[str, set[str]] = {}
        for transport, mpi, pattern in rows.iter_rows():
            libraries = self._libraries.setdefault(transport, [])
            if (mpi or "") not in libraries:
                libraries.append(mpi or "")
            self._patterns.setdefault(transport, set()).add(pattern)

    def value(self, quantity: Quantity) -> StudyValue:
        """A number of the run; raises InputError if it was not measured."""
        if quantity.node:
            return NODE_FIGURES[quantity.node].measured(self._facts)
        if is_counted(quantity):
            return counted(quantity)
        transport = self._transport(quantity)
        of = {"transport": transport, "mpi": self._mpi(transport)}
        if is_derived(quantity):
            value = derived(quantity, self._facts, of)
        elif quantity.figure in ("t0", "r-inf", "n-half", "error"):
            value = self._parameter(quantity, of)
        else:
            value = self._of_points(quantity, self._rows(quantity, of))
        ci = (value.median, value.median) if value.ci is None and self._is_exact else value.ci
        return replace(value, ci=ci, origin=self._origin(transport))

    def _origin(self, transport: str) -> str:
        """Whether ranks were there, ran in virtual time, or were simulated."""
        if transport in WITHOUT_NOISE:
            return "simulated"
        advice = self._facts.summary["advice"].list
        in_virtual_time = advice.contains(VIRTUAL) | advice.contains(VIRTUAL_NOISE)
        return "virtual" if in_virtual_time.all() else MEASURED

    @property
    def _is_exact(self) -> bool:
        """Whether all launches would be equal, so that one of them is the number."""
        return bool(self._facts.summary["advice"].list.contains(VIRTUAL).all())

    def _of_points(self, quantity: Quantity, rows: pl.DataFrame) -> StudyValue:
        """The time of points, the rate that it means, or a result that they have beside it."""
        ranks = int(rows["ranks"][0])
        if quantity.extra and quantity.extra != HOST_CPU_SHARE:
            return self._extra(quantity.extra, rows[:1])
        if quantity.phase:
            column = "second" if quantity.pattern == "distance" else "phase"
            numbered = rows.with_columns(at=axis(column).cast(pl.Int64, strict=False))
            numbered = numbered.unique("at", keep="first", maintain_order=True)
        else:
            numbered = rows[:1].with_columns(at=pl.lit(0))

        def middle(values: Mapping[int, float]) -> float:
            return at_phase(values, quantity.phase) if quantity.phase else values[0]

        number, low, high = (middle(dict(numbered.select("at", end).iter_rows())) for end in ENDS)
        per_launch = {
            launch: middle(values) for launch, values in self._per_launch(numbered).items()
        }
        is_single = rows["launches"].min() == 1 and len(per_launch) < 2  # equal ones stand for more
        ci = None if is_single else (low, high)
        time = StudyValue(number, ci, ranks, MEASURED, per_launch=per_launch)
        if quantity.extra:
            return self._extra(HOST_CPU, rows[:1]).over(time).at_most(1.0)
        if quantity.figure == "throughput":
            return time.inverse(int(rows["bytes_per_time"][0]))
        return time.inverse(quantity.size_bytes) if quantity.figure == "rate" else time

    def _per_launch(self, points: pl.DataFrame) -> dict[Launch, dict[int, float]]:
        """The times of points by `at`, of each launch that has all, in the reported state."""
        launches = self._facts.launches.join(
            points.select(*RUN_POINT, "at"), on=RUN_POINT, nulls_equal=True
        )
        times: dict[Launch, dict[int, float]] = {}
        for run, launch, at, time_s in launches.select("run", "launch", "at", "median_s").rows():
            times.setdefault((run, launch), {})[at] = time_s
        return {launch: row for launch, row in times.items() if len(row) == points.height}

    def _transport(self, quantity: Quantity) -> str:
        """The transport of the run that is asked for, one that has the pattern if any has."""
        layer = quantity.transport
        choices = list(MESSAGES) if layer in ("", "mpi") else [layer]
        if not layer:
            choices += list(self._libraries)
        measured = [transport for transport in choices if transport in self._libraries]
        having = [name for name in measured if quantity.pattern in self._patterns[name]]
        if not measured:
            raise InputError(f"no messages by {layer} were measured")
        return (having or measured)[0]

    def _mpi(self, transport: str) -> str:
        """The library of a transport: that named, else the first."""
        names = self._libraries[transport]
        if not self._library or len(names) == 1:
            return names[0]
        return str(library_named(self._library, names))

    def _rows(self, quantity: Quantity, of: Mapping[str, str]) -> pl.DataFrame:
        """The points of a pattern and a size, of the most ranks up to those of the study."""
        native = ["", "native"] if quantity.algorithm == "native" else [quantity.algorithm]
        pattern = quantity.pattern
        if quantity.algorithm != "native":
            pattern = f"{pattern}/{quantity.algorithm}"
        rows = self._facts.sound.filter(
            pl.col("transport") == of["transport"],
            pl.col("mpi").fill_null("") == of["mpi"],
            pl.col("pattern") == quantity.pattern,
            pl.col("algorithm").fill_null("").is_in(native),
        )
        if rows.is_empty():
            raise InputError(f"{pattern} was not measured")
        placed = [is_placed(placement, quantity) for placement in rows["placement"]]
        rows = rows.filter(pl.Series(placed, dtype=pl.Boolean))
        if rows.is_empty():
            raise InputError(f"{pattern} was not measured {quantity.placement}")
        if quantity.pattern != "barrier":
            rows = rows.filter(pl.col("bytes") == quantity.size_bytes)
        rows = _with_axes(rows.filter(pl.col("ranks") <= quantity.ranks), quantity)
        if rows.is_empty():
            where = f"{quantity.placement} " if quantity.placement else ""
            axes = "".join(f", {name}={text}" for name, text in quantity.axes.items())
            axes += "," if axes else ""
            raise InputError(
                f"{pattern} of {format_size(quantity.size_bytes)}{axes} {where}on up to "
                f"{quantity.ranks} ranks was not measured"
            )
        return _plain_first(rows.filter(pl.col("ranks") == pl.col("ranks").max()))

    def _extra(self, name: str, point: pl.DataFrame) -> StudyValue:
        """A further result of a point, with the interval of its launches.

        Raises InputError if the point has none of this name.
        """
        alone = pl.col("rank_s").list.first() if name == ROOT else pl.lit(None, dtype=pl.Float64)
        reported = self._facts.stated.filter("counts").join(
            point.select(RUN_POINT), on=RUN_POINT, how="semi", nulls_equal=True
        )
        visits = (
            self._facts.measurements.with_row_index("row")
            .filter(pl.col("row").is_in(reported["row"].to_list()))
            .select("run", "launch", number=pl.coalesce(value(name), alone))
            .drop_nulls()
            .group_by("run", "launch")
            .agg(pl.col("number").median())
            .sort("run", "launch")
            .collect()
        )
        if visits.is_empty():
            raise InputError(f"{point['pattern'][0]} has no {name} here")
        per_launch = {(run, launch): number for run, launch, number in visits.iter_rows()}
        return StudyValue.of_launches(per_launch, int(point["ranks"][0]))

    def _parameter(self, quantity: Quantity, of: Mapping[str, str]) -> StudyValue:
        """A parameter of the model of a pattern at a size."""
        models = [
            model
            for model in self._facts.models
            if (model.transport, model.mpi or "", model.pattern, model.ranks)
            == (of["transport"], of["mpi"], quantity.pattern, quantity.ranks)
            and is_placed(model.placement, quantity)
        ]
        models.sort(key=lambda model: is_between_nodes(model.placement))
        if not models:
            raise InputError(f"{quantity.pattern} has no model: too few sizes were measured")
        if quantity.figure == "error":
            return _model_error(models[0])
        for segment in models[0].segments:
            if segment.from_bytes <= quantity.size_bytes <= segment.to_bytes:
                return _of_segment(segment, quantity.figure)
        raise InputError(f"no model covers {format_size(quantity.size_bytes)}")


def _with_axes(rows: pl.DataFrame, quantity: Quantity) -> pl.DataFrame:
    """The points that have all axes asked for, each at its own number of ranks, and no others'."""
    for name in quantity.default_axes:
        rows = rows.filter(axis(name).is_null())
    for ranks in rows["ranks"].unique():
        for name, text in quantity.axis_values(ranks).items():
            rows = rows.filter((pl.col("ranks") != ranks) | (axis(name) == text))
    return rows


def _plain_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Points in order of preference: the place as the records have it, then few conditions.

    Messages of two ranks are those within a node, operations of many those between nodes.
    """
    is_pair = rows["pattern"][0] in PAIRS_OF_RANKS
    between = [bool(spans_nodes(placement or "")) for placement in rows["placement"]]
    return rows.with_columns(between=pl.Series(between, dtype=pl.Boolean)).sort(
        "between", pl.col("axes").fill_null("").str.len_bytes(), descending=[not is_pair, False]
    )


def _model_error(model: FittedModel) -> StudyValue:
    """The error on sizes that were left out of the fit: of half of them, up to 95 % of them."""
    if model.heldout_median is None or model.heldout_p95 is None:
        raise InputError("too few sizes were measured to leave any out of the fit")
    ends = (model.heldout_median, model.heldout_p95)
    return StudyValue(model.heldout_median, ends, origin=MEASURED)


def _of_segment(segment: Segment, figure: str) -> StudyValue:
    if not math.isfinite(segment.r_inf_Bps) and figure != "t0":
        raise InputError("its time does not grow with size there, as far as launches show")
    intervals = {"t0": segment.t0_ci, "r-inf": segment.r_inf_ci, "n-half": segment.n_half_ci}
    return StudyValue(parameter(segment, figure), intervals[figure], origin=MEASURED)
