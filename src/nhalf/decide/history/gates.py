"""The history of gates: every core, memory domain and pair of nodes as a curve over time.

A gate counts as one observation of what it timed. Gates that joined a baseline are used, and those
that were a no-go; gates beside other programs are not. Many gates in a row are taken together by
their median, which bounds the time and the noise of a year of hourly gates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nhalf.base.errors import InputError, unknown
from nhalf.decide.history.history import History, curve_error, curve_history
from nhalf.decide.history.levels import NAME, NODES, RUNS_MIN, node_levels
from nhalf.statistics.change_points import ERROR
from nhalf.store.gates import GateRecord, timed_on

OCCASIONS_MAX = 200
"""More gates of a curve are taken together, several in a row."""
THRESHOLD = 1.05
"""The usual tolerance of a gate."""
Timed = tuple[str, str]
"""Nodes, joined by a space, and name."""


def gate_history(records: Sequence[GateRecord], folder: Path, kind: str = "") -> History:
    """The history of gates; `kind` narrows it to one kind of times, such as 'core' or 'transfer'.

    Raises InputError if nothing was timed by two gates, or nothing of that kind.
    """
    usable = [record for record in records if record.counts or record.verdict == "no-go"]
    rows: dict[Timed, list[tuple[GateRecord, float]]] = defaultdict(list)
    for record in usable:
        for name, time_s in record.times_s.items():
            if 0 < time_s < np.inf:
                quantity, nodes = timed_on(record.node, name)
                rows[" ".join(nodes), quantity].append((record, time_s))
    kinds = {_kind(quantity) for _, quantity in rows}
    if kind and kind not in kinds:
        raise unknown("kind of times", kind, kinds)
    chosen = {timed: its for timed, its in rows.items() if kind in ("", _kind(timed[1]))}
    return _history(chosen, usable, folder)


def _history(
    rows: dict[Timed, list[tuple[GateRecord, float]]], usable: Sequence[GateRecord], folder: Path
) -> History:
    levels, environments = [], []
    for timed, its in sorted(rows.items()):
        # Of each occasion the first gate, and the median of its times.
        parts = np.array_split(np.arange(len(its)), min(len(its), OCCASIONS_MAX))
        occasions = [
            (its[part[0]][0], float(np.median([its[place][1] for place in part]))) for part in parts
        ]
        if len(occasions) >= RUNS_MIN:
            curve = {"pattern": _kind(timed[1]), NODES: timed[0], NAME: timed[1]}
            runs = {_moment(record): ("", np.array([time_s])) for record, time_s in occasions}
            levels.append(node_levels(curve, runs, threshold=THRESHOLD))
            environments.append([{"nhalf": record.nhalf} for record, _ in occasions])
    if not levels:
        raise InputError(
            "nothing here was timed by two gates", "gates beside other programs do not count"
        )
    errors = curve_error(levels), ERROR / len(levels)
    started_s = {_moment(record): record.at.timestamp() for record in usable}
    curves = [
        curve_history(curve, its, started_s, errors)
        for curve, its in zip(levels, environments, strict=True)
    ]
    return History(started_s, tuple(curves), errors[0], folder, "gates")


def _kind(quantity: str) -> str:
    """'core' of 'core 5'."""
    return quantity.partition(" ")[0]


def _moment(record: GateRecord) -> str:
    """What stands for a gate: its time."""
    return record.at.isoformat(timespec="seconds")
