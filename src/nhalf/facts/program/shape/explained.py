"""A candidate shape, and the share of messages that it explains."""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.facts.program.shape.edges import PairMask


@dataclass(frozen=True)
class Explained:
    """A shape with the pairs that it explains, and the number of rules needed.

    `name` is the established term, `words` adds its numbers; `directions` is the index of the rule
    for each pair, -1 for unexplained pairs.
    """

    name: str
    words: str
    mask: PairMask
    rules: int
    dimensions: tuple[int, ...] = ()
    steps: tuple[tuple[int, ...], ...] = ()
    periodic: tuple[bool, ...] = ()
