# SPDX-License-Identifier: Apache-2.0
"""Which rank ended a launch, as far as what was written about its processes tells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_SEEN = re.compile(r"\brank (\d+) \(process \d+\) has ended\b")
"""What another rank says that has seen it."""
_NAMED = re.compile(r"\b(?:PID|process) (\d+)\b", re.IGNORECASE)
"""What launchers say."""


def ended_rank(
    words: Sequence[str],
    placement: Sequence[Mapping[str, Any]],
    first: Mapping[str, Any] | None = None,
) -> str:
    """'rank 1 (process 4711) ended before the others'; '' where no rank is named, or several.

    `placement` is what the ranks said of themselves when they started, `first` the one that ended
    first as far as the kernel said so.
    """
    seen = {int(rank) for line in words for rank in _SEEN.findall(line)}
    numbers = {int(number) for line in words for number in _NAMED.findall(line)}
    named = [one for one in placement if one.get("rank") in seen]
    if not named:
        named = [first] if first else [one for one in placement if one.get("pid") in numbers]
    if len(named) != 1:
        return ""
    return f"rank {named[0]['rank']} (process {named[0]['pid']}) ended before the others"
