"""A file of expectations to begin with: what a run measured, as promises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.store.keys import RUN_CURVE, parse_axes

TOLERANCE = "10%"
HEAD = """# Edit the bounds and delete what nobody promised; omitted selectors match everything.
# Check a run with: nhalf check RUN --expect {name}
"""
SELECTORS = ("transport", "mpi", "pattern", "algorithm", "ranks", "placement")


def template(facts: Facts, name: str) -> str:
    """Promises as TOML: for each curve of a run the time of its smallest and its largest message.

    The bounds are the upper ends of the intervals. `name` is the file's, for its first lines.
    Raises InputError for a run without a measured time.
    """
    expectations = [*_expectations(facts)]
    if not expectations:
        raise InputError("the run has no time to promise", "measure first: nhalf run")
    content = {"source": "nhalf run", "tolerance": TOLERANCE, "expect": expectations}
    return HEAD.format(name=name) + msgspec.toml.encode(content).decode()


def _expectations(facts: Facts) -> Iterator[dict[str, Any]]:
    measured = facts.summary.filter(pl.col("median_s") > 0).sort(*RUN_CURVE, "bytes")
    for _, curve in measured.group_by(*RUN_CURVE, maintain_order=True):
        sizes = (0, -1) if curve.height > 1 else (0,)
        for place in sizes:
            yield _expectation(curve.row(place, named=True))


def _expectation(point: dict[str, Any]) -> dict[str, Any]:
    high_s = point["ci_high_s"]
    bound_s = high_s if high_s is not None and high_s < 2 * point["median_s"] else point["median_s"]
    axes = parse_axes(point["axes"])
    return {
        "metric": "time",
        **{name: point[name] for name in SELECTORS if point.get(name)},
        **({"axes": axes} if axes else {}),
        "bytes": point["bytes"],
        "at_most": format_time(bound_s),
    }
