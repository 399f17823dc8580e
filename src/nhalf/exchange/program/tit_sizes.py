"""The bytes of actions of SimGrid's time-independent traces, by counts and numbers of types."""

from __future__ import annotations

import math

from nhalf.exchange.program.tit_file import Action

TYPE_BYTES = {
    "0": 8, "1": 4, "2": 1, "3": 2, "4": 8, "5": 4, "6": 1, "7": 8, "8": 1, "9": 1, "10": 2,
    "11": 4, "12": 8, "13": 8, "14": 16, "15": 4, "16": 1, "17": 1, "18": 2, "19": 4, "20": 8,
    "21": 1, "22": 2, "23": 4, "24": 8, "25": 8, "26": 16, "27": 32,
}  # fmt: skip
"""By the number of a type in SimGrid: 0 is MPI_DOUBLE, 1 MPI_INT, 6 MPI_BYTE."""
_TYPED = {
    "bcast": 2, "reduce": 3, "allreduce": 2, "alltoall": 2, "allgather": 2, "gather": 3,
    "scatter": 3, "scan": 2, "exscan": 2,
}  # fmt: skip
"""The place of the type among the arguments."""
_ROOT = {"bcast": 1, "reduce": 2, "gather": 2, "scatter": 2}


def size_bytes(action: Action, count: str, kind: str, default_bytes: int) -> int:
    """The bytes of a number of elements; 0 for a receive of unknown size. Raises InputError."""
    try:
        elements = float(count)
    except ValueError:
        elements = math.nan
    if not abs(elements) < 1 << 53:
        raise action.error(f"{count[:20]!r} is no number of elements")
    if kind and kind not in TYPE_BYTES:
        raise action.error(f"the size of type {kind[:20]!r} is not known")
    return round(max(0.0, elements)) * (TYPE_BYTES[kind] if kind else default_bytes)


def input_bytes(
    action: Action, rank: int, ranks: int, default_bytes: int
) -> tuple[int, int | None]:
    """What a rank puts into a collective operation, and the root; raises InputError."""
    name, words = action.name, action.arguments
    root = _root(action, _root_at(name, ranks), ranks) if _root_at(name, ranks) else None
    if name == "barrier":
        return 0, root
    first, last, kind_at = _counts(name, ranks, rank == root, len(words))
    if len(words) < last:
        raise action.error("arguments are missing")
    kind = words[kind_at] if kind_at < len(words) else ""
    moved = sum(size_bytes(action, word, kind, default_bytes) for word in words[first:last])
    to_all = name == "alltoall" or (name == "scatter" and rank == root)
    return moved * ranks if to_all else moved, root


def _root_at(name: str, ranks: int) -> int:
    """The place of the root among the arguments, 0 for operations without one."""
    return ranks + 1 if name in ("gatherv", "scatterv") else _ROOT.get(name, 0)


def _counts(name: str, ranks: int, is_root: bool, words: int) -> tuple[int, int, int]:
    """The places of the first count of what a rank puts in, after the last one, and of its type.

    Where ranks other than the root put in nothing, of what they get.
    """
    if name == "scatter" and not is_root:
        return 1, 2, 4
    if name == "scatterv":
        return (0, ranks, ranks + 2) if is_root else (ranks, ranks + 1, ranks + 3)
    if name == "allgatherv":
        has_type = words in (ranks + 2, 2 * ranks + 2)
        return 0, 1, ranks + 1 if has_type else words
    places = {
        "gatherv": (0, 1, ranks + 2),
        "alltoallv": (1, ranks + 1, 2 * ranks + 2),
        "reducescatter": (0, ranks, ranks + 1),
    }
    return places[name] if name in places else (0, 1, _TYPED[name])


def _root(action: Action, place: int, ranks: int) -> int:
    word = action.arguments[place] if place < len(action.arguments) else "0"
    root = word.removeprefix("p")
    if not root.isdecimal() or len(root) > 7 or int(root) >= ranks:
        raise action.error(f"{word[:20]!r} is no root among {ranks} ranks")
    return int(root)
