"""Which send belongs to which receive: native/replay/pairing.hpp, as a library in this process."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.machines.network import Column, Columns, ask

Numbers = NDArray[np.int32]
Route = tuple[int, int, int]
"""Source, target and size of a message: what its cost depends on."""
_CALLS = ("rank", "thread", "partner", "communicator", "tag", "start_s", "size_bytes")


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
        *((name, Column) for name in (*Pairing._fields[:-1], "source", "target", "size_bytes")),
        ("messages", ctypes.c_int64),
        ("routes", ctypes.c_int64),
    )


def paired(calls: pl.DataFrame, order: NDArray[np.uint8]) -> Pairing | None:
    """The messages of which both ends are there, in the order of their keys; None if the calls are
    not in the order of rank, thread, start and `order`.
    """
    columns, most = Columns(), len(calls) // 2
    timeline = [
        columns.add(calls[name].to_numpy(), calls[name].to_numpy().dtype.type) for name in _CALLS
    ]
    by_call = [np.empty(len(calls), np.int32) for _ in range(2)]
    by_message = [np.empty(most, np.int32) for _ in range(3)]
    routes = [*(np.empty(most, np.int32) for _ in range(2)), np.empty(most, np.int64)]
    arrays = [*by_call, *by_message, *routes]
    answer = _Answer(*(columns.add(array, array.dtype.type) for array in arrays))
    question = columns.struct([*timeline, columns.add(order, np.uint8)])
    if ask("nhalf_pair", question, ctypes.byref(answer)):
        return None
    listed = (array[: answer.routes].tolist() for array in routes)
    of_messages = (array[: answer.messages] for array in by_message)
    return Pairing(*by_call, *of_messages, list(zip(*listed, strict=True)))
