"""What a comparison with an imported run cannot do, and what helps there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nhalf.base.carrier import WINDOWS
from nhalf.cli.sides import run_and_library

if TYPE_CHECKING:
    import polars as pl

    from nhalf.decide.changes import Comparison
    from nhalf.store.run import Run

SHOWN = 3


def imported_names(names: Sequence[str]) -> list[str]:
    """The sides, RUN or RUN:LIBRARY, that were imported."""
    return [name for name in names if name and _run(name).environment.get("imported")]


def of_imported(
    comparison: Comparison, lost: Sequence[dict[str, Any]], names: Sequence[str]
) -> tuple[Comparison, Sequence[dict[str, Any]]]:
    """The comparison with remedies for imported sides: they have no launches but their logs."""
    imported = imported_names(names)
    if not imported:
        return comparison, lost
    remedy = f"import more logs into {' and '.join(imported)}: nhalf import FILE... --out NEW"
    curves = [
        replace(curve, doubt=replace(curve.doubt, remedy=remedy)) if curve.doubt.remedy else curve
        for curve in comparison.curves
    ]
    lost = [{**row, "doubt": replace(row["doubt"], remedy=remedy)} for row in lost]
    return replace(comparison, curves=curves), lost


def comparable_medians(
    a: str, b: str, medians_a: pl.DataFrame, medians_b: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """The medians without accesses of windows whose times are those of other numbers of bytes.

    A log has the time of one access of many, a measured run that of all of them together.
    """
    import polars as pl

    if not b or not imported_names([a, b]):
        return medians_a, medians_b, []
    from nhalf.store.keys import COMPARED_POINT

    amounts = [
        _run(name)
        .measurements()
        .filter(pl.col("transport").is_in(WINDOWS))
        .group_by(COMPARED_POINT)
        .agg(pl.col("bytes_per_time").max())
        .collect()
        for name in (a, b)
    ]
    joined = amounts[0].join(amounts[1], on=list(COMPARED_POINT), nulls_equal=True, suffix="_b")
    unequal = joined.filter(pl.col("bytes_per_time") != pl.col("bytes_per_time_b"))
    if unequal.is_empty():
        return medians_a, medians_b, []
    notes = [
        f"{row['pattern']} {row['axes']} is not compared: a time of {a} is that of "
        f"{row['bytes_per_time']} bytes, one of {b} that of {row['bytes_per_time_b']}"
        for row in unequal.unique(["pattern", "axes"], maintain_order=True).head(SHOWN).to_dicts()
    ]
    keys = unequal.select(COMPARED_POINT)
    comparable = [
        medians.join(keys, on=list(COMPARED_POINT), how="anti", nulls_equal=True)
        for medians in (medians_a, medians_b)
    ]
    return comparable[0], comparable[1], notes


def alone_notes(
    a: str,
    b: str,
    medians_a: pl.DataFrame,
    medians_b: pl.DataFrame,
    libraries: Sequence[tuple[str, str]],
) -> Iterator[str]:
    """A sentence for curves of one side that the other does not have, if one was imported."""
    import polars as pl

    from nhalf.present.changes import curve_names
    from nhalf.store.keys import COMPARED_CURVE

    if not b or not imported_names([a, b]):
        return
    firsts, seconds = ({pair[side] for pair in libraries} for side in (0, 1))
    curves_a = medians_a.filter(pl.col("mpi").is_in(firsts)).unique(COMPARED_CURVE)
    curves_b = medians_b.filter(pl.col("mpi").is_in(seconds)).unique(COMPARED_CURVE)
    for name, own, partners in ((a, curves_a, curves_b), (b, curves_b, curves_a)):
        alone = own.join(partners, on=list(COMPARED_CURVE), how="anti", nulls_equal=True)
        if alone.is_empty():
            continue
        names = curve_names(alone.sort(COMPARED_CURVE).to_dicts())
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        yield f"only in {name}: {'; '.join(names[:SHOWN])}{more}"


def _run(name: str) -> Run:
    return run_and_library(name)[0]
