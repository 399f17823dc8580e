"""How blocks differ in operations that have a count for each rank, as far as a trace tells it.

Each rank's own block is known: what it gives to all or to a root, gets from a root, or gets of a
sum. Of what it sends to each other rank only the sum is, which is its share there.
"""

from collections.abc import Sequence

import numpy as np

from nhalf.base.operations import BY_NAME
from nhalf.facts.program.operations import SHARES, Places

STEPS = 64
"""Shares that are no whole numbers up to this one are in as many parts of the mean block."""
DIVIDED = ("reduce_scatter",)
"""Operations whose ranks give a whole vector; the tag tells what each gets of it."""
VARYING = frozenset(name for name, row in BY_NAME.items() if row.is_varying)


def shares_by_operation(
    operation: Places, rank: Places, block_bytes: Places, count: int
) -> tuple[Places, Sequence[str]]:
    """By operation, of which there are `count`, the place of its shares among texts to be put after
    its call, the first of which is ''. The other arguments are by parts of ranks, as far as their
    blocks are known.
    """
    places, texts = dict[bytes, int](), [""]
    shares = np.zeros(count, np.int64)
    order = np.lexsort((rank, operation))
    operation, block_bytes = operation[order], block_bytes[order]
    begins = np.flatnonzero(np.diff(operation, prepend=-1))
    for number, blocks in zip(operation[begins], np.split(block_bytes, begins[1:]), strict=False):
        if not blocks.any():
            continue
        own = blocks // np.gcd.reduce(blocks)
        if own.max() > STEPS:
            own = np.rint(STEPS * len(blocks) / blocks.sum() * blocks).astype(np.int64)
        place = places.setdefault(own.tobytes(), len(texts))
        texts += [_text(own)] if place == len(texts) else []
        shares[number] = place
    return shares, texts


def _text(shares: Places) -> str:
    """The shares in smallest numbers, as few as repeat themselves."""
    shares = shares // np.gcd.reduce(shares)
    few = next(n for n in range(1, len(shares) + 1) if np.array_equal(shares[n:], shares[:-n]))
    return SHARES + ":".join(map(str, shares[:few].tolist()))
