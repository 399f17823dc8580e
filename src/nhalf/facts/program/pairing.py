"""Which send belongs to which receive: native/replay/pairing.hpp, as a library in this process."""

import ctypes
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.machines.network import Columns, NativeColumn, ask

Numbers = NDArray[np.int32]
Route = tuple[int, int, int]
"""Source, target and size of a message: what its cost depends on."""
_CALLS = dict.fromkeys(("rank", "thread", "partner", "communicator", "tag"), np.int32) | {
    "start_s": np.float64,
    "size_bytes": np.int64,
}


class Pairing(NamedTuple):
    """By call its number among messages with the same ends, communicator and tag, or among
    collective operations of a rank on a communicator, and its message, -1 if it has none. By
    message the rows of both its ends, and its place in `routes`.
    """

    number: Numbers
    message: Numbers
    sent: Numbers
    received: Numbers
    route: Numbers
    routes: list[Route]


class _Answer(ctypes.Structure):
    _fields_ = (
        *(
            (name, NativeColumn)
            for name in (*Pairing._fields[:-1], "source", "target", "size_bytes")
        ),
        ("messages", ctypes.c_int64),
        ("routes", ctypes.c_int64),
    )


def paired(calls: pl.DataFrame, order: NDArray[np.uint8]) -> Pairing | None:
    """The messages of which both ends are there, in the order of their keys; None if the calls are
    not in the order of rank, thread, start and `order`.
    """
    columns, most = Columns(), len(calls) // 2
    timeline = [columns.add(calls[name].to_numpy(), kind) for name, kind in _CALLS.items()]
    number, message = (np.empty(len(calls), np.int32) for _ in range(2))
    sent, received, route, source, target = (np.empty(most, np.int32) for _ in range(5))
    size_bytes = np.empty(most, np.int64)
    answers = (number, message, sent, received, route, source, target)
    answer = _Answer(
        *(columns.add(array, np.int32) for array in answers), columns.add(size_bytes, np.int64)
    )
    question = columns.struct([*timeline, columns.add(order, np.uint8)])
    misfit = ask("nhalf_pair", question, ctypes.byref(answer))
    if misfit == "order":
        return None
    if misfit:
        raise ValueError(f"the columns of a timeline do not fit each other: {misfit}")
    ends = (array[: answer.routes].tolist() for array in (source, target, size_bytes))
    sent, received, route = (array[: answer.messages] for array in (sent, received, route))
    return Pairing(number, message, sent, received, route, list(zip(*ends, strict=True)))
