"""What preloaded collectives have learned in earlier runs: the file that NHALF_COLL_KEEP names.

A line for all calls that learned together, as native/interposer/kept_lessons.hpp writes it.
"""

import re
from collections.abc import Mapping
from pathlib import Path

FIRST_LINE = "# nhalf lessons 1"
NATIVE = "native"
LearnedCalls = tuple[int, str, int]
"""Ranks of the communicator, operation, and the smallest size of the class, bytes."""


def kept_lessons(path: Path, version: str) -> Mapping[LearnedCalls, float]:
    """The time of the way that was taken last, as a share of that of the library's own way; 1 where
    that is the library's own.

    `version` is the beginning of what an MPI library says of itself. Of a file that cannot be read,
    or is damaged, nothing is known.
    """
    try:
        first, *lines = path.read_text("ascii").splitlines() or [""]
    except (OSError, UnicodeDecodeError):
        return {}
    word = re.sub(r"[^!-~]", "-", re.split(r"[\n,]", version)[0])
    share_by_calls: dict[LearnedCalls, float] = {}
    for line in lines if first == FIRST_LINE else []:
        words = line.split()
        if line.startswith("#") or not words:
            continue
        if len(words) != 6 or not all(words[at].isdecimal() for at in (1, 3, 5)):
            return {}
        library, ranks, operation, from_bytes, way, percent = words
        if library.rpartition("-")[0] == word:
            share = 1.0 if way == NATIVE else min(1.0, int(percent) / 100)
            share_by_calls[int(ranks), operation, int(from_bytes)] = share
    return share_by_calls
