# SPDX-License-Identifier: Apache-2.0
"""Two runs on a machine whose state changes: only equal states are compared.

Points of two runs are paired one to one within a state (flags.py), like launches that ran side by
side; points without a partner are left out. If two runs have no state in common, they cannot be
compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.statistics.flags import borders, mostly_missed
from nhalf.store.keys import COMPARED_CURVE, COMPARED_POINT
from nhalf.store.schema import FLAGGED_COLUMNS, LAUNCH_COLUMNS, conformed

PAIRS_MIN = 2


@dataclass(frozen=True)
class SameState:
    """Launches of both runs (LAUNCH_COLUMNS), paired by state, and curves without a common state.

    `lost` are the columns of COMPARED_CURVE and `mpi`, that of B. `notes` are sentences about what
    was left out.
    """

    a: pl.DataFrame
    b: pl.DataFrame
    lost: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


def same_states(
    a: pl.DataFrame, b: pl.DataFrame, libraries: Sequence[tuple[str, str]]
) -> SameState:
    """The launches in equal states of each pair of a library of A and one of B, together."""
    pairs = [
        same_state(a.filter(pl.col("mpi") == mpi_a), b.filter(pl.col("mpi") == mpi_b))
        for mpi_a, mpi_b in libraries
    ]
    lost = [
        {**curve, "mpi": mpi_b}
        for (_, mpi_b), pair in zip(libraries, pairs, strict=True)
        for curve in pair.lost
    ]
    empty = pl.DataFrame(schema=LAUNCH_COLUMNS)
    return SameState(
        pl.concat([empty, *(pair.a for pair in pairs)]),
        pl.concat([empty, *(pair.b for pair in pairs)]),
        tuple(lost),
        tuple(dict.fromkeys(note for pair in pairs for note in pair.notes)),
    )


def same_state(a: pl.DataFrame, b: pl.DataFrame) -> SameState:
    """The launches of two runs that were measured in equal states of the machine.

    Both frames have FLAGGED_COLUMNS, each one library of a run. Curves present in only one frame
    are left out. The remaining launches of divided curves are renumbered, so that they can be
    paired, separately for each size.
    """
    a, b = (conformed(frame, FLAGGED_COLUMNS) for frame in (a, b))
    a, b = (
        frame.join(
            other_frame.select(COMPARED_CURVE).unique(),
            on=COMPARED_CURVE,
            how="semi",
            nulls_equal=True,
        )
        for frame, other_frame in ((a, b), (b, a))
    )
    has_flags = pl.col("flag_s").is_not_null().any().over(COMPARED_CURVE)
    flags = [frame.filter(has_flags)["flag_s"] for frame in (a, b)]
    steady_flags = [series.drop_nulls().drop_nans() for series in flags]
    if any(series.is_empty() for series in steady_flags) or any(map(mostly_missed, flags)):
        return SameState(conformed(a, LAUNCH_COLUMNS), conformed(b, LAUNCH_COLUMNS))
    borders_s = borders(pl.concat(steady_flags))
    if not borders_s:
        return SameState(conformed(a, LAUNCH_COLUMNS), conformed(b, LAUNCH_COLUMNS))
    numbered_a, numbered_b = (_numbered(frame, borders_s) for frame in (a, b))
    on = [*COMPARED_POINT, "state", "place"]
    pairs = numbered_a.select(on).join(numbered_b.select(on), on=on, nulls_equal=True)
    order = (
        pl.struct("state", "place").rank("dense").over(COMPARED_POINT).cast(a.schema["launch"]) - 1
    )
    pairs = pairs.with_columns(pair=order)
    enough = pairs.group_by(COMPARED_CURVE).agg(most=pl.col("pair").max() + 1)
    enough = enough.filter(pl.col("most") >= PAIRS_MIN)
    pairs = pairs.join(
        enough.select(COMPARED_CURVE), on=COMPARED_CURVE, how="semi", nulls_equal=True
    )
    curves = a.select(COMPARED_CURVE).unique()
    lost = curves.join(enough, on=COMPARED_CURVE, how="anti", nulls_equal=True).to_dicts()
    flags_s = pl.concat(steady_flags).to_numpy()
    low, high = 1e9 * float(flags_s.min()), 1e9 * float(flags_s.max())
    note = (
        f"the machine changed between {len(borders_s) + 1} states, in which a flag between two "
        f"cores takes {low:.0f} to {high:.0f} ns: only equal states are compared"
    )
    return SameState(_paired(numbered_a, pairs), _paired(numbered_b, pairs), tuple(lost), (note,))


def _numbered(frame: pl.DataFrame, borders_s: list[float]) -> pl.DataFrame:
    """Add `state`, and `place`, the number of a launch among those of a point in that state.

    Points during which the machine changed are left out, as are those whose flag was missed. Curves
    without any flag, such as with more ranks than cores, have their own state.
    """
    flag = pl.col("flag_s")
    steady = frame.filter(
        (flag.is_not_null() & flag.is_not_nan()) | flag.is_null().all().over(COMPARED_CURVE)
    )
    state = pl.sum_horizontal(
        [pl.col("flag_s") >= border for border in borders_s], ignore_nulls=False
    ).cast(pl.Int64)
    place = pl.col("launch").rank("ordinal").over([*COMPARED_POINT, "state"])
    return steady.with_columns(state=state.fill_null(-1)).with_columns(place=place)


def _paired(frame: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """The rows that have a partner; pairs share a launch number."""
    partnered = frame.drop("launch").join(
        pairs, on=[*COMPARED_POINT, "state", "place"], nulls_equal=True
    )
    return conformed(partnered.rename({"pair": "launch"}), LAUNCH_COLUMNS)
