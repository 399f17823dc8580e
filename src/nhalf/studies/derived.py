"""Numbers of a run that come from many of its points: b_eff, LogP, accepted traffic, crossovers."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.rows import Row
from nhalf.facts.active_messages import LONG, crossovers
from nhalf.facts.facts import Facts
from nhalf.facts.soak import PATTERN as SOAK
from nhalf.facts.soak import soaked
from nhalf.machines.curve import is_between_nodes
from nhalf.machines.spread import spans_nodes
from nhalf.results.traffic import FALLBACKS, OVER_LOADS, launches
from nhalf.studies.form import Quantity
from nhalf.studies.value import Launch, StudyValue

B_EFF = {
    "time": "pingpong_latency_s",
    "b_eff": "b_eff_Bps",
    "per-process": "b_eff_per_process_Bps",
    "at-longest": "at_longest_Bps",
    "rings-at-longest": "rings_at_longest_Bps",
    "pingpong": "pingpong_bandwidth_Bps",
}
LOGP = {
    "L": "latency_s",
    "o_s": "send_overhead_s",
    "o_r": "recv_overhead_s",
    "o": "overhead_s",
    "g": "gap_s",
    "G": "gap_per_byte_s",
    "half-round-trip": "half_round_trip_s",
    "busy-share": "busy_share",
}
CROSSOVER = "crossover"
TRAFFIC = {"rate": "saturated_Bps", "throughput": "saturated_Bps"}
WITHOUT_NOISE = ("model", "simulated")
"""Transports whose launches may be equal."""
DERIVED: dict[str, Mapping[str, str]] = {"b_eff": B_EFF, "logp": LOGP, "traffic": TRAFFIC}
"""Members of a result's rows by figure, by the result, which is the pattern of a number."""


def is_derived(quantity: Quantity) -> bool:
    """Whether a number comes from many points of a run."""
    is_result = quantity.pattern in DERIVED and not quantity.extra
    return is_result or quantity.figure == CROSSOVER or quantity.pattern == SOAK


def derived(quantity: Quantity, facts: Facts, of: Mapping[str, str]) -> StudyValue:
    """A number of a derived result, of the most ranks; raises InputError if there is none."""
    if quantity.figure == CROSSOVER:
        return _crossover(quantity, facts)
    if quantity.pattern == SOAK:
        return _soaked(quantity, facts, of)
    name = quantity.pattern
    member = DERIVED[name].get(quantity.figure)
    if member is None:
        raise InputError(f"{name} has no {quantity.figure}")
    rows = [row for row in facts.results.get(name, []) if _is_asked(row, quantity, of)]
    if not rows:
        where = f" {quantity.placement}" if quantity.placement and name != "traffic" else ""
        axes = "".join(f", {axis}={text}" for axis, text in quantity.axes.items())
        raise InputError(f"{name}{axes} was not measured{where}")
    row = max(rows, key=lambda row: (int(row["ranks"]), not is_between_nodes(row["placement"])))
    if row.get(member) is None:
        raise InputError(row.get("missing") or f"{name} has no {quantity.figure}")
    ends = _interval(row, member)
    if ends and ends[0] == ends[1] and of["transport"] not in WITHOUT_NOISE:
        ends = None  # a single launch had all that it takes
    value = StudyValue(row[member], ends, int(row["ranks"]), "measured")
    if name == "traffic":
        value = _part(replace(value, per_launch=_saturated(row, facts)), row, quantity)
    return value


def _saturated(row: Row, facts: Facts) -> dict[Launch, float]:
    """The saturated rate of each launch of a row of traffic."""
    is_of_row = [pl.col(name).eq_missing(row[name]) for name in OVER_LOADS]
    rates = launches(facts.measurements).filter(is_of_row)
    medians = rates.group_by("run", "launch").agg(pl.col("saturated_Bps").median()).drop_nulls()
    return {(run, launch): rate for run, launch, rate in medians.sort("run", "launch").rows()}


def _is_asked(row: Row, quantity: Quantity, of: Mapping[str, str]) -> bool:
    """Whether a row is of the library, the place, the size and the axes of a number."""
    if (row["transport"], row["mpi"] or "") != (of["transport"], of["mpi"]):
        return False
    if quantity.pattern != "traffic":
        return is_placed(row["placement"], quantity)
    axes = {**FALLBACKS, **quantity.axis_values(int(row["ranks"]))}
    is_there = int(row["ranks"]) <= quantity.ranks and row["bytes"] == quantity.size_bytes
    return is_there and all(row.get(name) == text for name, text in axes.items())


def _part(value: StudyValue, row: Row, quantity: Quantity) -> StudyValue:
    """What of mixed traffic stays on its node, or leaves it."""
    if not quantity.placement:
        return value
    share = row["on_node_share"]
    if share is None:
        raise InputError("the run does not say how much of its traffic stays on a node")
    part = share if quantity.placement == "on-node" else 1 - share
    if part <= 0:
        raise InputError(f"none of {row['to']} traffic is {quantity.placement} here")
    return value.scaled(part)


def _interval(row: Row, member: str) -> tuple[float, float] | None:
    ends: Any = row.get(f"{member}_ci")
    return (ends[0], ends[1]) if ends and None not in ends else None


def _soaked(quantity: Quantity, facts: Facts, of: Mapping[str, str]) -> StudyValue:
    """How many calls of a long series there were, or by how much they took longer at its end."""
    pattern = quantity.axes.get("of", "barrier")
    series = [row for row in soaked(facts) if (row.mpi, row.of) == (of["mpi"], pattern)]
    if not series:
        raise InputError(f"there was no long series of {pattern}")
    if quantity.extra == "calls":
        number = float(min(row.calls for row in series))
        return StudyValue(number, (number, number), quantity.ranks, "measured")
    growth = max((row.time_trend for row in series), key=lambda trend: trend.median)
    low, median, high = (1 + float(end) for end in (growth.low, growth.median, growth.high))
    return StudyValue(median, (low, high), quantity.ranks, "measured")


def _crossover(quantity: Quantity, facts: Facts) -> StudyValue:
    """Where bulk copies overtake programmed stores: between the largest size at which stores are
    faster and the smallest from which on bulk copies are.

    Raises InputError if the sizes of the run do not enclose it.
    """
    if quantity.pattern != LONG:
        raise InputError(f"{quantity.pattern} has no crossover")
    ends = [(row.stores_bytes, row.bulk_bytes) for row in crossovers(facts)]
    for stores_bytes, bulk_bytes in ends:
        if stores_bytes and bulk_bytes:
            middle = math.sqrt(stores_bytes * bulk_bytes)
            return StudyValue(middle, (float(stores_bytes), float(bulk_bytes)), 2, "measured")
    if not ends:
        raise InputError("neither stores nor bulk copies are faster at any size, beyond noise")
    way = "stores" if ends[0][1] is None else "bulk copies"
    raise InputError(f"only {way} are faster, at the sizes where the two differ beyond noise")


def is_placed(placement: str | None, quantity: Quantity) -> bool:
    """Whether a placement is where a number is asked for."""
    if not quantity.placement:
        return True
    return bool(spans_nodes(placement or "")) == (quantity.placement == "off-node")
