"""The keys of the tables: the columns that group points, with one name per meaning.

Keys that begin with RUN_ identify the same things across several runs.
"""

from __future__ import annotations

from collections.abc import Iterable

from nhalf.store.schema import POINT_COLUMNS

Key = tuple[str, ...]


def without(key: Iterable[str], *names: str) -> Key:
    """A key without `names`: rows that differ only in them share it."""
    return tuple(name for name in key if name not in names)


POINT: Key = tuple(POINT_COLUMNS)
"""One point of a run."""
CURVE = without(POINT, "bytes")
"""Points that differ only in size."""
PATTERN = without(CURVE, "ranks", "placement")
"""Points that differ only in size, number of ranks and placement."""
SUBJECT: Key = ("transport", "mpi", "ranks", "placement")
"""The subject of a derived result: the library, the number of ranks and the placement."""

RUN_POINT: Key = ("run", *POINT)
RUN_CURVE: Key = ("run", *CURVE)
RUN_SUBJECT: Key = ("run", *SUBJECT)

COMPARED_POINT = without(POINT, "mpi")
"""Points that are compared with each other: their libraries may differ."""
COMPARED_CURVE = without(CURVE, "mpi")

VARIED_POINT = without(RUN_POINT, "axes")
"""Points that differ only in the further axes of their pattern."""
