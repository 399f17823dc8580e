"""The bytes of a collective operation in OTF2, as Score-P counts them, and as a trace does.

Score-P counts what a rank sends to all and gets from all, itself included; a trace has what a rank
puts in. Source: the tests of Score-P's computation of bytes (test_scorep_mpi_coll).
"""

from __future__ import annotations

from nhalf.base.operations import TABLE
from nhalf.facts.program.operations import FROM_ROOT, SCATTERS, TO_ROOT

SAME_TO_ALL = tuple(o.name for o in TABLE if o.flow == "among_all" and o.data in ("sum", "block"))
PREFIXES = tuple(o.name for o in TABLE if o.flow == "up_to_each")


def transferred_bytes(
    name: str, size_bytes: int, ranks: int, place: int, is_root: bool
) -> tuple[int, int]:
    """What a rank sends and gets in an operation, by what it puts in; `place` is its rank."""
    if name in SCATTERS:
        return (size_bytes, size_bytes // ranks) if is_root else (0, size_bytes)
    if name in FROM_ROOT:
        return ranks * size_bytes if is_root else 0, size_bytes
    if name in TO_ROOT:
        return size_bytes, ranks * size_bytes if is_root else 0
    if name in SAME_TO_ALL:
        return ranks * size_bytes, ranks * size_bytes
    if name in PREFIXES:
        after = ranks - place - (name == "exscan")
        return after * size_bytes, (place + (name == "scan")) * size_bytes
    return size_bytes, size_bytes


def input_bytes(name: str, sent_bytes: int, received_bytes: int, ranks: int) -> int:
    """What a rank puts in, or gets if it puts in nothing, by what it sends and gets."""
    if name in SCATTERS or name in TO_ROOT:
        return sent_bytes or received_bytes
    if name in FROM_ROOT:
        return received_bytes
    if name in SAME_TO_ALL:
        return sent_bytes // max(1, ranks)
    if name in PREFIXES:
        shares = ranks + 1 if name == "scan" else ranks - 1
        return (sent_bytes + received_bytes) // max(1, shares)
    return sent_bytes
