"""The door to native/network: what messages take alone, what they share, and what each moves.

Nothing in Python knows what a message takes or passes, or divides it (native/network). The
library, which has the replays as well, comes into this process when it is first asked: an answer
takes less than starting a program that would be sent the draws.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nhalf.base import native_files
from nhalf.base.arrays import Floats

LIBRARY = "libnhalf_network.so"
Pairs = Sequence[tuple[int, int]]
"""Messages: the ranks of sender and receiver."""
_COUNTS = ("ranks", "messages", "draws", "is_spread")
_ARRAYS = ("nodes", "senders", "receivers", "capacity", "blocked", "alone", "both_ways", "answer")


class NativeColumn(ctypes.Structure):
    """Values where they lie, as native/replay/columns.hpp has them."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_int64))


class Columns:
    """Columns of the library, which live as long as this."""

    def __init__(self) -> None:
        self._arrays: list[NDArray[np.generic]] = []

    def add(self, values: ArrayLike, kind: type) -> NativeColumn:
        """A column of a type, copied only if it has another one."""
        array: NDArray[np.generic] = np.ascontiguousarray(values, kind)
        self._arrays.append(array)
        return NativeColumn(array.ctypes.data, array.size)

    @staticmethod
    def struct(columns: Sequence[NativeColumn]) -> ctypes.Array[NativeColumn]:
        """Columns one after the other, as in the structures of columns.hpp."""
        return (NativeColumn * len(columns))(*columns)


def ask(function: str, *arguments: object) -> str | None:
    """What the library finds wrong with a question; None if it answers it. Raises MemoryError, and
    MissingError without the library.
    """
    answer = getattr(native_files.library(LIBRARY), function)
    answer.restype = ctypes.c_char_p
    wrong: bytes | None = answer(*arguments)
    if wrong == b"memory":
        raise MemoryError
    return None if wrong is None else wrong.decode()


def times_s(pieces: ArrayLike, size_bytes: ArrayLike) -> Floats:
    """What messages take alone by the pieces of a curve: from how many bytes on, seconds of an
    empty message, and per byte and root of a byte.
    """
    curve, sizes = (np.asarray(values, float, order="C") for values in (pieces, size_bytes))
    answer_s = np.empty(sizes.shape)
    places = [ctypes.c_void_p(array.ctypes.data) for array in (curve, sizes, answer_s)]
    counts = ctypes.c_int64(len(curve)), ctypes.c_int64(sizes.size)
    if wrong := ask("nhalf_curve", places[0], counts[0], places[1], counts[1], places[2]):
        raise ValueError(wrong)
    return answer_s


class _Question(ctypes.Structure):
    _fields_ = (
        ("machine", ctypes.c_char_p),
        *((name, ctypes.c_int64) for name in _COUNTS),
        *((name, ctypes.c_void_p) for name in _ARRAYS),
    )


@dataclass(frozen=True)
class SharedCapacities:
    """What ranks share, by `nodes` the node of each.

    `lines` are those of native/network/routes.hpp, whose rates only say whether there is such a
    thing; `capacity_Bps` (draws, kinds) has them: of a link, the medium, a memory, and of each
    share one way and both ways. A link to which several messages come gets `blocked_share` (draws,)
    of its own through.
    """

    nodes: NDArray[np.int_]
    lines: Sequence[str]
    capacity_Bps: Floats
    blocked_share: Floats

    def load_s_per_B(self, pairs: Pairs, *, is_spread: bool = False) -> Floats:
        """How long a byte of every message keeps the busiest of all that they share, (draws,).

        If it `is_spread`, messages to another switch take all cables to it alike.
        """
        return self._answer(pairs, self.blocked_share.shape, is_spread=is_spread)

    def rates_Bps(self, pairs: Pairs, alone_Bps: Floats, both_ways: Floats) -> Floats:
        """What each message moves beside the others, of what it does alone, both (draws, pairs).

        A rank moves as much one way as its fastest message, both ways `both_ways` (draws,) of that.
        """
        return self._answer(pairs, alone_Bps.shape, alone_Bps, both_ways)

    def _answer(
        self,
        pairs: Pairs,
        shape: tuple[int, ...],
        alone_Bps: Floats | None = None,
        both_ways: Floats | None = None,
        *,
        is_spread: bool = False,
    ) -> Floats:
        answer = np.zeros(shape)
        if not pairs:
            return answer
        ranks = np.array(pairs, np.int32).T.copy()
        rates = (self.capacity_Bps, self.blocked_share, alone_Bps, both_ways)
        arrays: list[NDArray[np.generic] | None] = [self.nodes.astype(np.int32), *ranks]
        arrays += [None if rate is None else np.ascontiguousarray(rate, float) for rate in rates]
        question = _Question(
            "\n".join(self.lines).encode(),
            *(len(self.nodes), len(pairs), len(self.blocked_share), is_spread),
            *(None if array is None else array.ctypes.data for array in [*arrays, answer]),
        )
        if wrong := ask("nhalf_concurrent", ctypes.byref(question)):
            raise ValueError(wrong)
        return answer
