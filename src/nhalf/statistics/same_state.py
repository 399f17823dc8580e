"""Two runs on a machine whose state changes: only equal states are compared.

Points of two runs are paired one to one within a state (advice.py), like launches that ran side by
side; flags between cores and the clock of a GPU tell states. Points without a partner are left out.
Curves that have too few launches in a state in common cannot be compared, and there is doubt about
those whose state is unknown for too many points.

A machine that changes between two states: keep the times measured in one of them.

Shared virtual machines migrate their cores between places that share a cache and places that do
not, for seconds at a time and with factors of two or three. A launch during such a change has some
sizes from one state and some from the other, and such a curve describes neither. A model is
therefore fitted to one state, the one in which most measurements were made.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from nhalf.statistics.advice import CLOCK_APART, clocks_text, mostly_missed, shares_text
from nhalf.statistics.doubt import (
    DIFFERENT_STATES,
    UNFLAGGED,
    Doubt,
    different_clocks,
    moving_clock,
    unknown_state,
)
from nhalf.statistics.intervals import Floats
from nhalf.statistics.state_groups import APART, borders, shares
from nhalf.store.keys import (
    COMPARED_CURVE,
    COMPARED_POINT,
    FLAGGED_COLUMNS,
    LAUNCH_COLUMNS,
    conformed,
)

REACH = math.log(1.25)
"""Times of one state agree within this (logarithm): far above noise, far below the factor between
the states."""
SHARE_MIN = 0.1
"""A state with fewer measurements is a disturbance, which medians ignore."""
LAUNCHES_MIN = 3


def in_one_state(launch_time_s: Floats) -> Floats:
    """Times (launches, sizes) with those of the rarer state replaced by NaN.

    Each time is compared with the fastest launch of its size. If nearly all agree, there is one
    state, and the times are returned unchanged. The slow state is kept if most times belong to it
    and some launch was slow throughout; otherwise the fast one is kept. Every size keeps at least
    one time.
    """
    if launch_time_s.shape[0] < LAUNCHES_MIN or not np.isfinite(launch_time_s).any(axis=0).all():
        return launch_time_s
    logs = np.log(launch_time_s)
    present = np.isfinite(logs)
    fast = logs - np.nanmin(logs, axis=0) <= REACH
    share = fast.sum() / present.sum()
    if not SHARE_MIN < share < 1 - SHARE_MIN:
        return launch_time_s
    wholly_slow = fast.sum(axis=1) <= SHARE_MIN * present.sum(axis=1)
    in_state = fast
    if share < 0.5 and wholly_slow.any():
        # Launches that were slow throughout give the slow state's time at every size.
        slow = np.where(wholly_slow[:, None], logs, np.nan)
        measured = np.isfinite(slow).any(axis=0)
        slow[0, ~measured] = np.nanmedian(logs[:, ~measured], axis=0)
        in_state = np.abs(logs - np.nanmedian(slow, axis=0)) <= REACH
        in_state[:, ~in_state.any(axis=0)] = True
    return np.where(in_state, launch_time_s, np.nan)


UNKNOWN_MOST = 0.25
"""If the state is unknown for a larger share of the points of a curve, it decides nothing."""
UNSEEN = "the state of the machine of {} is unknown, as it was imported: the intervals decide alone"
ONE_CLOCK = "one of the runs does not tell the GPU's clock, which may have been another one"
FLAG, CLOCK = "flag_s", "gpu_clock_hz"


class _Witness(NamedTuple):
    """What tells the states of two runs: its column, borders between its groups, and these."""

    column: str
    edges: Sequence[float]
    states: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class SameState:
    """Launches of both runs (LAUNCH_COLUMNS), paired by state, and curves without a common state.

    Doubts hold the columns of COMPARED_CURVE, `mpi` (that of B) and `doubt`: `lost` those of curves
    without launches in equal states, `doubts` those of curves with launches that decide nothing.
    `notes` are sentences about what was left out, `paired` libraries of B with renumbered launches.
    """

    a: pl.DataFrame
    b: pl.DataFrame
    lost: tuple[dict[str, Any], ...] = ()
    doubts: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    paired: tuple[str, ...] = ()


def same_states(
    a: pl.DataFrame,
    b: pl.DataFrame,
    libraries: Sequence[tuple[str, str]],
    imported: Sequence[str] = (),
) -> SameState:
    """The launches in equal states of each pair of a library of A and one of B, together.

    `imported` names the sides whose state nobody saw: their launches decide as they are.
    """
    pairs = [
        same_state(a.filter(pl.col("mpi") == mpi_a), b.filter(pl.col("mpi") == mpi_b), imported)
        for mpi_a, mpi_b in libraries
    ]
    empty = pl.DataFrame(schema=LAUNCH_COLUMNS)
    return SameState(
        pl.concat([empty, *(pair.a for pair in pairs)]),
        pl.concat([empty, *(pair.b for pair in pairs)]),
        tuple(doubt for pair in pairs for doubt in pair.lost),
        tuple(doubt for pair in pairs for doubt in pair.doubts),
        _notes([mpi for _, mpi in libraries], pairs),
        tuple(mpi for pair in pairs for mpi in pair.paired),
    )


def _notes(libraries: Sequence[str], pairs: Sequence[SameState]) -> tuple[str, ...]:
    """Each note once, with the libraries that it is about if it is not about all of them."""
    libraries_by_note: dict[str, list[str]] = {}
    for mpi, pair in zip(libraries, pairs, strict=True):
        for note in pair.notes:
            libraries_by_note.setdefault(note, []).append(mpi)
    return tuple(
        note if len(about) == len(libraries) else f"{', '.join(about)}: {note}"
        for note, about in libraries_by_note.items()
    )


def same_state(a: pl.DataFrame, b: pl.DataFrame, imported: Sequence[str] = ()) -> SameState:
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
    if imported:
        note = UNSEEN.format(" and of ".join(imported))
        return SameState(_whole_launches(a), _whole_launches(b), notes=(note,))
    doubts = tuple(_unknown(a, b, FLAG, unknown_state))
    clocks = [frame[CLOCK].is_not_null().any() for frame in (a, b)]
    doubts += tuple(_unknown(a, b, CLOCK, moving_clock)) if all(clocks) else ()
    notes = [ONE_CLOCK] * (clocks[0] != clocks[1])
    witnesses = _witnesses(a, b)
    if not witnesses:
        sides = _whole_launches(a), _whole_launches(b)
        return SameState(*sides, doubts=doubts, notes=tuple(notes))
    numbered_a, numbered_b = (_numbered(frame, witnesses) for frame in (a, b))
    on = [*COMPARED_POINT, "state", "place"]
    pairs = numbered_a.select(on).join(numbered_b.select(on), on=on, nulls_equal=True)
    order = (
        pl.struct("state", "place").rank("dense").over(COMPARED_POINT).cast(a.schema["launch"]) - 1
    )
    pairs = pairs.with_columns(pair=order)
    enough = pairs.group_by(COMPARED_CURVE).agg(most=pl.col("pair").max() + 1)
    enough = enough.filter(pl.col("most") >= LAUNCHES_MIN)
    pairs = pairs.join(
        enough.select(COMPARED_CURVE), on=COMPARED_CURVE, how="semi", nulls_equal=True
    )
    curves = a.select(COMPARED_CURVE).unique()
    lost = curves.join(enough, on=COMPARED_CURVE, how="anti", nulls_equal=True)
    for column, _, states in witnesses:
        if column == FLAG:
            flags = pl.concat([a, b]).group_by(COMPARED_CURVE).agg(pl.col(FLAG).is_null().all())
            doubts += tuple(_doubtful(flags.filter(FLAG).drop(FLAG), b, UNFLAGGED))
            words = f"the machine changed between {len(states)} states: {shares_text(states)}"
            notes.append(f"{words}; only equal states are compared")
        else:
            notes.append(f"{clocks_text(states)}; only equal clocks are compared")
    sides = _paired(numbered_a, pairs), _paired(numbered_b, pairs)
    return SameState(
        *sides, tuple(_lost(lost, a, b, witnesses)), doubts, tuple(notes), (b["mpi"][0],)
    )


def _witnesses(a: pl.DataFrame, b: pl.DataFrame) -> list[_Witness]:
    """The columns that tell several states of these runs; none is mostly missed in either."""
    witnesses = []
    for column, apart in ((FLAG, APART), (CLOCK, CLOCK_APART)):
        has_it = pl.col(column).is_not_null().any().over(COMPARED_CURVE)
        readings = [frame.filter(has_it)[column] for frame in (a, b)]
        steady = [series.drop_nulls().drop_nans() for series in readings]
        if not any(series.is_empty() for series in steady) and not any(
            map(mostly_missed, readings)
        ):
            edges = borders(pl.concat(steady), apart)
            witnesses += [_Witness(column, edges, shares(pl.concat(steady), edges))] * bool(edges)
    return witnesses


def _lost(
    curves: pl.DataFrame, a: pl.DataFrame, b: pl.DataFrame, witnesses: Sequence[_Witness]
) -> Iterator[dict[str, Any]]:
    """The curves without a state in common, with the clocks of the GPU where these differ."""
    states_hz = [hz for name, _, states in witnesses if name == CLOCK for hz, _ in states]
    for curve in _doubtful(curves, b, DIFFERENT_STATES):
        is_curve = [pl.col(name).eq_missing(pl.lit(curve[name])) for name in COMPARED_CURVE]
        clocks_hz = [frame.filter(*is_curve)[CLOCK].drop_nans().median() for frame in (a, b)]
        near_hz = [
            min(states_hz, key=lambda state_hz: abs(math.log(state_hz / clock_hz)))
            for clock_hz in clocks_hz
            if isinstance(clock_hz, float) and states_hz
        ]
        is_other = len(set(near_hz)) == len(clocks_hz)
        yield {**curve, "doubt": different_clocks(*near_hz)} if is_other else curve


def _unknown(
    a: pl.DataFrame, b: pl.DataFrame, column: str, doubt_of: Callable[[float], Doubt]
) -> Iterator[dict[str, Any]]:
    """The curves of which one side's state is unknown too often; without witness, none."""
    witness = pl.col(column)
    unknown = (witness.is_null() | witness.is_nan()).mean()
    shares = pl.concat(
        side.group_by(COMPARED_CURVE).agg(share=unknown, told=witness.is_not_null().any())
        for side in (a, b)
    )
    worst = shares.group_by(COMPARED_CURVE, maintain_order=True).agg(
        pl.col("share").max(), pl.col("told").any()
    )
    for row in worst.filter(pl.col("told") & (pl.col("share") > UNKNOWN_MOST)).to_dicts():
        curve = {name: row[name] for name in COMPARED_CURVE}
        yield {**curve, "mpi": b["mpi"][0], "doubt": doubt_of(row["share"])}


def _doubtful(curves: pl.DataFrame, b: pl.DataFrame, doubt: Doubt) -> Iterator[dict[str, Any]]:
    for curve in curves.sort(COMPARED_CURVE).to_dicts():
        yield {**curve, "mpi": b["mpi"][0], "doubt": doubt}


def _whole_launches(frame: pl.DataFrame) -> pl.DataFrame:
    """The launches, each with the states that it met taken together."""
    key = [*COMPARED_POINT, "mpi", "run", "launch"]
    joined = frame.group_by(key, maintain_order=True).agg(
        pl.col("median_s").median(), pl.col("lowest_s").min(), pl.col("samples").sum()
    )
    return conformed(joined, LAUNCH_COLUMNS)


def _numbered(frame: pl.DataFrame, witnesses: Sequence[_Witness]) -> pl.DataFrame:
    """Add `state`, and `place`, the number of a launch among those of a point in that state.

    Points during which the machine changed are left out, as are those whose witness was missed.
    Curves without any, such as with more ranks than cores, have their own state.
    """
    steady, state = frame, pl.lit(0, pl.Int64)
    for column, edges, _ in witnesses:
        witness = pl.col(column)
        steady = steady.filter(
            (witness.is_not_null() & witness.is_not_nan())
            | witness.is_null().all().over(COMPARED_CURVE)
        )
        number = pl.sum_horizontal([witness >= edge for edge in edges], ignore_nulls=False)
        state = state * (len(edges) + 2) + number.cast(pl.Int64).fill_null(-1) + 1
    place = pl.col("launch").rank("ordinal").over([*COMPARED_POINT, "state"])
    return steady.with_columns(state=state).with_columns(place=place)


def _paired(frame: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """The rows that have a partner; pairs share a launch number."""
    partnered = frame.drop("launch").join(
        pairs, on=[*COMPARED_POINT, "state", "place"], nulls_equal=True
    )
    return conformed(partnered.rename({"pair": "launch"}), LAUNCH_COLUMNS)
