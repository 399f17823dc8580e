# SPDX-License-Identifier: Apache-2.0
"""A shape that was looked for, and how much of the messages it explains."""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.facts.program.shape.edges import Which


@dataclass(frozen=True)
class Explained:
    """A shape with the pairs that it explains, and the number of rules that it needs for it.

    `name` is the word of the field, `words` say it with its numbers; `directions` is the place of
    each pair among the rules, -1 for pairs that are not explained.
    """

    name: str
    words: str
    which: Which
    rules: int
    dimensions: tuple[int, ...] = ()
    steps: tuple[tuple[int, ...], ...] = ()
    periodic: tuple[bool, ...] = ()
