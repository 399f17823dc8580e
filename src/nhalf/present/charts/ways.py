"""Ways to do the same as multiples of the standard one, for panels of one pattern's axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import altair as alt

from nhalf.facts.difference import with_intervals
from nhalf.facts.facts import Facts
from nhalf.facts.sending import Variants, against_standard
from nhalf.present.charts import common
from nhalf.present.charts.ratios import ratio_chart, ratio_row


def ways_chart(
    facts: Facts,
    variants: Variants,
    name: Callable[[Mapping[str, str]], str],
    words: str,
) -> alt.TopLevelMixin | None:
    """The chart of `against_standard`; None if there is nothing.

    `name` makes the name of a way from its axes; `words` name the standard.
    """
    ratios = against_standard(facts, variants)
    standard = [axis for axis, _ in variants.standard]
    if ratios.is_empty():
        return None
    by = ["series", "pattern", *standard, "bytes"]
    points = common.thin(with_intervals(ratios.sort(by), by), by[:-1])
    shown = set(points["pattern"])
    rows = []
    for row in points.iter_rows(named=True):
        way = name({axis: row[axis] for axis in standard})
        choice = {"pattern": row["pattern"]} if len(shown) > 1 else {}
        rows.append(ratio_row(row, way) | choice)
    return ratio_chart(
        rows, sorted({row["series"] for row in rows}), kind_title="way", standard=words
    )
