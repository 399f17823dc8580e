"""Caches as the operating system reports them: only shown beside the measured ones."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path("/sys/devices/system/cpu/cpu0/cache")
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def announced(folder: Path = FOLDER) -> list[dict[str, int]]:
    """Level, size, line and ways of each data cache, nearest first; 0 if not reported."""
    caches = [
        {
            "level": _number(index / "level"),
            "size_bytes": _number(index / "size"),
            "line_bytes": _number(index / "coherency_line_size"),
            "ways": _number(index / "ways_of_associativity"),
        }
        for index in sorted(folder.glob("index*"))
        if _text(index / "type") != "Instruction"
    ]
    return sorted(caches, key=lambda cache: cache["level"])


def _number(path: Path) -> int:
    match = re.fullmatch(r"(\d+)([KMG]?)", _text(path))
    return int(match[1]) * UNITS[match[2]] if match else 0


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8").strip()
    except OSError:
        return ""
