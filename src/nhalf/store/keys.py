# SPDX-License-Identifier: Apache-2.0
"""The keys of the tables: by which columns points belong together, each meaning with one name.

RUN_… is the same among several runs.
"""

from __future__ import annotations

from collections.abc import Iterable

from nhalf.store.schema import POINT_COLUMNS

Key = tuple[str, ...]


def without(key: Iterable[str], *names: str) -> Key:
    """A key that does not tell apart what differs in `names` only."""
    return tuple(name for name in key if name not in names)


POINT: Key = tuple(POINT_COLUMNS)
"""One point of a run."""
CURVE = without(POINT, "bytes")
"""Points that differ by their size."""
PATTERN = without(CURVE, "ranks", "placement")
"""Points that differ by their sizes, numbers of ranks and placements."""
SUBJECT: Key = ("transport", "mpi", "ranks", "placement")
"""Whom a derived result is about: who was started, how often, and where."""

RUN_POINT: Key = ("run", *POINT)
RUN_CURVE: Key = ("run", *CURVE)
RUN_SUBJECT: Key = ("run", *SUBJECT)

COMPARED_POINT = without(POINT, "mpi")
"""Points that are compared with each other: their libraries may differ."""
COMPARED_CURVE = without(CURVE, "mpi")

VARIED_POINT = without(RUN_POINT, "axes")
"""Points that differ by the further axes of their pattern."""
