"""How well are the machines of record predicted, without the figures that are compared?

Nothing is measured: predictions beside the published figures of Adamidis et al. 2005, each without
itself, or without its machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gallery_left_out
import gallery_orders
import gallery_tables
from nhalf.base.units import format_rate
from nhalf.decide.b_eff import NAMES, error_ratio, predict_b_eff
from nhalf.machines import catalogue

B_EFF = (("altix-bx2", 256), ("x1-ssp", 8), ("x1-msp", 8), ("opteron-myrinet", 8))
HEAD = ["machine", "ranks", "figure", "published", "predicted", "error", "interval", "inside"]


def measure(runs: int) -> tuple[Any, str]:
    """All comparisons; `runs` is not asked for."""
    rows = list(b_eff_rows())
    inside = sum(row["inside"] for row in rows)
    left_out = gallery_left_out.left_out()
    page = [
        "# Machines of record, predicted without what is compared",
        "## Effective bandwidth, without the machine's own published values",
        f"{inside} of {len(rows)} values lie in the interval that the other machines give.",
        gallery_tables.table(HEAD, map(_b_eff_words, rows)),
        "## Ratios that numbers were inferred from, each without itself",
        gallery_tables.TABLES["gallery-left-out"](),
        "## Barrier, reduce and all-to-all",
        gallery_orders.orders(lambda name: f"`{name}`", gallery_tables.table),
    ]
    figures = {
        "b_eff": rows,
        "left_out": [
            {
                "operation": each.claim.pattern,
                "size_bytes": each.claim.size_bytes,
                "faster": each.claim.faster,
                "slower": each.claim.slower,
                "without": each.without,
                "published": each.claim.ratio,
                "predicted": each.ratio,
                "error": each.error,
            }
            for each in left_out
        ],
        "orders": gallery_orders.summary(),
    }
    return figures, _unlinked("\n\n".join(page)) + "\n"


def b_eff_rows() -> Iterator[dict[str, Any]]:
    """The published figures with predictions and intervals from all other machines."""
    for name, ranks in B_EFF:
        found = predict_b_eff(catalogue.machine(name), ranks, without_own=True)
        for figure in NAMES:
            rate, published_Bps = found.figures[figure], found.published_Bps[figure]
            rate = rate.widened(error_ratio(figure, without=name))
            yield {
                "machine": name,
                "ranks": ranks,
                "figure": figure,
                "published_Bps": published_Bps,
                "predicted_Bps": rate.middle_Bps,
                "error": rate.middle_Bps / published_Bps - 1,
                "interval_Bps": [rate.low, rate.high],
                "inside": rate.low <= published_Bps <= rate.high,
            }


def _b_eff_words(row: dict[str, Any]) -> Sequence[str]:
    low, high = map(format_rate, row["interval_Bps"])
    rates = (format_rate(row["published_Bps"]), format_rate(row["predicted_Bps"]))
    found = (gallery_tables.percent(row["error"]), f"{low} to {high}")
    is_inside = "yes" if row["inside"] else "no"
    return (f"`{row['machine']}`", str(row["ranks"]), row["figure"], *rates, *found, is_inside)


def _unlinked(text: str) -> str:
    """A page without links into the records, which are beside the gallery."""
    return text.replace("(machines.md#", "(../machines.md#")
