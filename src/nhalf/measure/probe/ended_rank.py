# SPDX-License-Identifier: Apache-2.0
"""Which rank ended a launch, as far as what was written about its processes tells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

OWN_WORDS = "probe: "
"""How a line of standard error begins that a rank wrote before it gave up."""
_SPEAKER = re.compile(rf"^{OWN_WORDS}rank (\d+): ")
_SEEN = re.compile(r"\brank (\d+) \(process \d+\)(?=.* has ended\b)")
"""What another rank says that has seen it."""
_NAMED = re.compile(r"\b(?:PID|process) (\d+)\b", re.IGNORECASE)
"""What launchers say."""


def ended_rank(
    words: Sequence[str],
    placement: Sequence[Mapping[str, Any]],
    first: Mapping[str, Any] | None = None,
    *,
    is_sure: bool = False,
) -> str:
    """'rank 1 (process 4711) ended before the others'; '' if no rank is named, or several.

    `placement` is what the ranks said of themselves when they started, `first` the one that ended
    first as far as the kernel said so; where `is_sure` no other can have ended before. A rank that
    gave up by itself is not named: it has said why.
    """
    spoke = set(speakers(words))
    if first and is_sure:
        return "" if first["rank"] in spoke else _in_words(first)
    seen = {int(rank) for line in words for rank in _SEEN.findall(line)} - spoke
    numbers = {int(number) for line in words for number in _NAMED.findall(line)}
    named = [one for one in placement if one.get("rank") in seen]
    if not named:
        named = [first] if first else [one for one in placement if one.get("pid") in numbers]
    return _in_words(named[0]) if len(named) == 1 else ""


def speakers(words: Sequence[str]) -> list[int]:
    """The ranks that wrote why they gave up, in the order of their lines."""
    return [int(said[1]) for line in words if (said := _SPEAKER.match(line))]


def own_words(words: Sequence[str], first: Mapping[str, Any] | None = None) -> list[str]:
    """What ranks wrote before they gave up, that of the first to end first."""
    own = [line.removeprefix(OWN_WORDS) for line in words if line.startswith(OWN_WORDS)]
    begin = f"rank {first['rank']}: " if first else ""
    return sorted(own, key=lambda line: not line.startswith(begin))


def _in_words(rank: Mapping[str, Any]) -> str:
    return f"rank {rank['rank']} (process {rank['pid']}) ended before the others"
