"""The problems of the NAS Parallel Benchmarks, as the sources of their kernels list them."""

import functools
import re
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import InputError, MissingError

APP = "npb"
CLASSES = ("S", "W", "A", "B", "C", "D")
TABLE, KERNEL = "classes.inc", "problem.hpp"
"""A kernel's table of classes, which C++ and Java read as well, and its description."""
HALO = 2
"""Layers of points that neighbours need in BT, SP and LU: a rank has as many or more."""
LANES = 8
"""Lines that FT transforms at once."""
_CLASS = re.compile(r"^\{'([A-Z])',([^{}\n]*)", re.MULTILINE)
_RULE = re.compile(r"\.ranks = RankRule::(\w+)")


@dataclass(frozen=True)
class Problem:
    """One class of a kernel; `numbers` are the whole ones at the beginning of its line.

    Points in each direction and steps of BT, SP, LU and MG; rows, nonzeros and iterations of CG;
    points in x, y and z and iterations of FT; log2 of keys, largest key and buckets of IS.
    """

    kernel: str
    name: str
    numbers: tuple[int, ...]

    @property
    def ranks_max(self) -> int:
        """The most ranks that can share its data; 0 without a limit."""
        if self.kernel in ("bt", "sp", "lu"):
            return (self.numbers[0] // HALO) ** 2
        if self.kernel == "ft":
            nx, ny, nz = self.numbers[:3]
            return nz * min(nx, ny) // LANES
        return 1 << self.numbers[2] if self.kernel == "is" else 0


def problem(kernel: str, name: str) -> Problem:
    """Return the problem of a kernel's class.

    Raises InputError for a class that it does not have, MissingError without the sources.
    """
    problems = _problems(kernel, _file(kernel, TABLE))
    if name not in problems:
        raise InputError(f"{kernel} has no class {name}", f"give one of {', '.join(problems)}")
    return problems[name]


def rank_rule(kernel: str) -> str:
    """Return the rule for a kernel's numbers of ranks, as probes name it: 'power-of-two'.

    Raises MissingError without the sources.
    """
    (rule,) = _RULE.findall(_file(kernel, KERNEL).read_text(encoding="utf-8")) or ["any"]
    return str(rule).replace("_", "-")


@functools.cache
def _problems(kernel: str, table: Path) -> dict[str, Problem]:
    """Every class of a kernel in its table, by name."""
    return {
        name: Problem(
            kernel, name, tuple(map(int, takewhile(str.isdigit, map(str.strip, line.split(",")))))
        )
        for name, line in _CLASS.findall(table.read_text(encoding="utf-8"))
    }


def _file(kernel: str, name: str) -> Path:
    """A file of a kernel's sources. Raises MissingError if it is not there."""
    path = native_files.include_folder() / "apps" / APP / kernel / name
    if not path.is_file():
        raise MissingError(f"{path} is missing", native_files.REMEDY)
    return path
