# SPDX-License-Identifier: Apache-2.0
"""Numbers of a run, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from nhalf.base.errors import InputError, library_named
from nhalf.base.units import format_size
from nhalf.decide.studies.form import Quantity
from nhalf.decide.studies.phases import at_phase
from nhalf.decide.studies.value import Value
from nhalf.facts.facts import Facts
from nhalf.machines.curve import is_between_nodes
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import FittedModel, Segment
from nhalf.store.axes import axis

MESSAGES = ("mpi", "model", "simulated")
"""Transports that pass messages as MPI does: the model machine stands for a library."""
MEASURED = "measured"
PAIRS_OF_RANKS = ("pingpong", "pingping", "exchange")
ENDS = ("median_s", "low_s", "high_s")
B_EFF = {
    "time": "pingpong_latency_s",
    "b_eff": "b_eff_Bps",
    "per-process": "b_eff_per_process_Bps",
    "at-longest": "at_longest_Bps",
    "rings-at-longest": "rings_at_longest_Bps",
    "pingpong": "pingpong_bandwidth_Bps",
}
"""Members of the result, by figure."""


class Measured:
    """The numbers of one library of a run for each transport."""

    needs_intervals = True

    def __init__(self, name: str, facts: Facts, library: str = "") -> None:
        self.name, self._facts, self._library = name, facts, library
        rows = facts.sound.select("transport", "mpi").unique().sort("transport", "mpi")
        self._libraries: dict[str, list[str]] = {}
        for transport, mpi in rows.iter_rows():
            self._libraries.setdefault(transport, []).append(mpi or "")

    def value(self, quantity: Quantity) -> Value:
        """A number of the run; raises InputError if it was not measured."""
        transport = self._transport(quantity.transport)
        of = {"transport": transport, "mpi": self._mpi(transport)}
        if quantity.pattern == "b_eff":
            return self._b_eff(quantity, of)
        if quantity.figure in ("t0", "r-inf", "n-half", "error"):
            return self._parameter(quantity, of)
        rows = self._rows(quantity, of)
        ranks = int(rows["ranks"][0])
        if quantity.phase:
            column = "second" if quantity.pattern == "distance" else "phase"
            numbered = rows.with_columns(at=axis(column).cast(pl.Int64, strict=False))
            numbered = numbered.unique("at", keep="first", maintain_order=True)
            middle, low, high = (
                at_phase(dict(numbered.select("at", end).iter_rows()), quantity.phase)
                for end in ENDS
            )
        else:
            middle, low, high = rows.select(*ENDS).row(0)
        time = Value(middle, self._interval(rows, low, high), ranks, MEASURED)
        return time.inverse(quantity.size_bytes) if quantity.figure == "rate" else time

    def _transport(self, layer: str) -> str:
        """The transport of the run that is asked for."""
        choices = list(MESSAGES) if layer in ("", "mpi") else [layer]
        if not layer:
            choices += list(self._libraries)
        for transport in choices:
            if transport in self._libraries:
                return transport
        raise InputError(f"no messages by {layer} were measured")

    def _mpi(self, transport: str) -> str:
        """The library of a transport: that named, else the first."""
        names = self._libraries[transport]
        if not self._library or len(names) == 1:
            return names[0]
        return str(library_named(self._library, names))

    def _rows(self, quantity: Quantity, of: Mapping[str, str]) -> pl.DataFrame:
        """The points of a pattern and a size, of the most ranks up to those of the study."""
        native = ["", "native"] if quantity.algorithm == "native" else [quantity.algorithm]
        rows = self._facts.sound.filter(
            pl.col("transport") == of["transport"],
            pl.col("mpi").fill_null("") == of["mpi"],
            pl.col("pattern") == quantity.pattern,
            pl.col("algorithm").fill_null("").is_in(native),
        )
        if rows.is_empty():
            raise InputError(f"{quantity.pattern} was not measured")
        if quantity.pattern != "barrier":
            rows = rows.filter(pl.col("bytes") == quantity.size_bytes)
        rows = rows.filter(pl.col("ranks") <= quantity.ranks)
        if rows.is_empty():
            size = format_size(quantity.size_bytes)
            raise InputError(
                f"{quantity.pattern} of {size} on up to {quantity.ranks} ranks was not measured"
            )
        return _plain_first(rows.filter(pl.col("ranks") == pl.col("ranks").max()))

    @staticmethod
    def _interval(rows: pl.DataFrame, low: float, high: float) -> tuple[float, float] | None:
        """The interval; None of single launches, which have none."""
        is_single = rows["launches"].min() == 1
        return None if is_single else (low, high)

    def _b_eff(self, quantity: Quantity, of: Mapping[str, str]) -> Value:
        """A figure of the effective bandwidth, of the most ranks."""
        rows = [
            row
            for row in self._facts.results.get("b_eff", [])
            if (row["transport"], row["mpi"] or "") == (of["transport"], of["mpi"])
        ]
        if not rows:
            raise InputError("b_eff was not measured")
        row = max(rows, key=lambda row: int(row["ranks"]))
        member = B_EFF[quantity.figure]
        if row.get(member) is None:
            raise InputError(row["missing"] or f"b_eff has no {quantity.figure}")
        ends: Any = row.get(f"{member}_ci")
        ci = (ends[0], ends[1]) if ends and None not in ends else None
        return Value(row[member], ci, int(row["ranks"]), MEASURED)

    def _parameter(self, quantity: Quantity, of: Mapping[str, str]) -> Value:
        """A parameter of the model of a pattern at a size."""
        models = [
            model
            for model in self._facts.models
            if (model.transport, model.mpi or "", model.pattern, model.ranks)
            == (of["transport"], of["mpi"], quantity.pattern, quantity.ranks)
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


def _plain_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Points in order of preference: the place as the records have it, then few conditions.

    Messages of two ranks are those within a node, operations of many those between nodes.
    """
    is_pair = rows["pattern"][0] in PAIRS_OF_RANKS
    between = [_has_several_nodes(placement or "") for placement in rows["placement"]]
    return rows.with_columns(between=pl.Series(between, dtype=pl.Boolean)).sort(
        "between", pl.col("axes").fill_null("").str.len_bytes(), descending=[not is_pair, False]
    )


def _has_several_nodes(placement: str) -> bool:
    """Whether a placement is on several nodes, with any number of ranks on each."""
    layout = parse_layout(placement)
    return is_between_nodes(placement) or (layout is not None and layout.hosts > 1)


def _model_error(model: FittedModel) -> Value:
    """The error on sizes that were left out of the fit: of half of them, up to 95 % of them."""
    if model.heldout_median is None or model.heldout_p95 is None:
        raise InputError("too few sizes were measured to leave any out of the fit")
    ends = (model.heldout_median, model.heldout_p95)
    return Value(model.heldout_median, ends, origin=MEASURED)


def _of_segment(segment: Segment, figure: str) -> Value:
    """A parameter with its interval."""
    values = {
        "t0": (segment.t0_s, segment.t0_ci),
        "r-inf": (segment.r_inf_Bps, segment.r_inf_ci),
        "n-half": (segment.n_half_bytes, segment.n_half_ci),
    }
    number, ci = values[figure]
    if not math.isfinite(number):
        raise InputError("its time does not grow with size there, as far as launches show")
    return Value(number, ci, origin=MEASURED)
