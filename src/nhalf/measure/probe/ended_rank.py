"""Which rank ended a launch, according to the output of its processes and the kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

OWN_WORDS = "probe: "
"""Beginning of a line on standard error that a rank wrote before it gave up."""
_SPEAKER = re.compile(rf"^{OWN_WORDS}rank (\d+): ")
_REPORTED = re.compile(r"\brank (\d+) \(process \d+\)(?=.* has ended\b)")
"""Report of another rank that noticed the end."""
_PROCESS_NUMBER = re.compile(r"\b(?:PID|process) (\d+)\b", re.IGNORECASE)
"""Process numbers in messages of launchers."""


def ended_rank(
    words: Sequence[str],
    placement: Sequence[Mapping[str, Any]],
    first: Mapping[str, Any] | None = None,
    *,
    is_sure: bool = False,
) -> str:
    """Return 'rank 1 (process 4711) ended before the others'; '' unless exactly one rank is known.

    `placement` describes the ranks as they started, `first` the one that ended first according to
    the kernel; if `is_sure`, no other can have ended before. A rank that gave up by itself is not
    named, because it has written why.
    """
    spoke = set(speakers(words))
    if first and is_sure:
        return "" if first["rank"] in spoke else _in_words(first)
    reported = {int(number) for line in words for number in _REPORTED.findall(line)} - spoke
    pids = {int(number) for line in words for number in _PROCESS_NUMBER.findall(line)}
    candidates = [rank for rank in placement if rank.get("rank") in reported]
    if not candidates:
        candidates = [first] if first else [rank for rank in placement if rank.get("pid") in pids]
    return _in_words(candidates[0]) if len(candidates) == 1 else ""


def speakers(words: Sequence[str]) -> list[int]:
    """Return the ranks that wrote why they gave up, in the order of their lines."""
    return [int(match[1]) for line in words if (match := _SPEAKER.match(line))]


def own_words(words: Sequence[str], first: Mapping[str, Any] | None = None) -> list[str]:
    """Return the lines that ranks wrote before they gave up, the first rank to end first."""
    own = [line.removeprefix(OWN_WORDS) for line in words if line.startswith(OWN_WORDS)]
    begin = f"rank {first['rank']}: " if first else ""
    return sorted(own, key=lambda line: not line.startswith(begin))


def _in_words(rank: Mapping[str, Any]) -> str:
    return f"rank {rank['rank']} (process {rank['pid']}) ended before the others"
