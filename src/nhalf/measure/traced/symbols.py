"""Names of addresses in programs and libraries: function, file and line.

Files and lines come from `addr2line` of binutils or LLVM, where one is installed and the program
was compiled with -g. Otherwise functions come from the symbol table of the file itself: the one
that holds the address, if any does.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.measure.traced.elf import functions_at

PROGRAMS = ("addr2line", "llvm-addr2line", "eu-addr2line")
FILTERS = ("c++filt", "llvm-cxxfilt")
MANGLED = "_Z"
"""How names of C++ begin in a symbol table."""
PATIENCE_S = 30.0
"""Programs with gigabytes of debugging information are named by their symbols."""
_UNKNOWN = "??"


@dataclass(frozen=True)
class Name:
    """Where an address is; '' and 0 for what is not known."""

    function: str = ""
    file: str = ""
    line: int = 0


class Names:
    """Finds names; `path_of` finds a program."""

    def __init__(self, path_of: Callable[[str], str | None] = shutil.which) -> None:
        self._program = _first(PROGRAMS, path_of)
        self._filter = _first(FILTERS, path_of)

    def of(self, places: Sequence[tuple[str, int]]) -> list[Name]:
        """Return the names of places: a file, and an address there that a call returns to."""
        by_module: dict[str, list[int]] = defaultdict(list)
        for module, offset in places:
            by_module[module].append(offset)
        names: dict[tuple[str, int], Name] = {}
        for module, offsets in by_module.items():
            for offset, name in zip(offsets, self._in_module(module, offsets), strict=True):
                names[module, offset] = name
        return [names[place] for place in places]

    def _in_module(self, module: str, offsets: list[int]) -> list[Name]:
        if not module or not Path(module).is_file():
            return [Name()] * len(offsets)
        # An address that a call returns to may be the first one of the next line.
        calls = [max(0, offset - 1) for offset in offsets]
        lines = self._lines(module, calls)
        if all(line.function and line.line for line in lines):
            return lines
        functions = self._readable(functions_at(Path(module), calls))
        # Without lines, addr2line names whatever precedes an address, however far away.
        return [
            line if line.function and line.line else Name(function, line.file, line.line)
            for line, function in zip(lines, functions, strict=True)
        ]

    def _readable(self, functions: list[str]) -> list[str]:
        """The functions, those of C++ as they are written there if a program tells that."""
        if self._filter is None or not any(name.startswith(MANGLED) for name in functions):
            return functions
        readable = _answer([self._filter, *functions])
        return readable if len(readable) == len(functions) else functions

    def _lines(self, module: str, calls: list[int]) -> list[Name]:
        unknown = [Name()] * len(calls)
        if self._program is None:
            return unknown
        answer = _answer([self._program, "-f", "-C", "-e", module, *map(hex, calls)])
        if len(answer) != 2 * len(calls):
            return unknown
        return [
            _name(function, line) for function, line in zip(answer[::2], answer[1::2], strict=True)
        ]


def _first(programs: Sequence[str], path_of: Callable[[str], str | None]) -> str | None:
    """The path of the first program that is installed."""
    return next((path for name in programs if (path := path_of(name))), None)


def _answer(words: Sequence[str]) -> list[str]:
    """The lines that a program prints; none if it fails."""
    try:
        outcome = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=PATIENCE_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return outcome.stdout.splitlines()


def _name(function: str, line: str) -> Name:
    """Read an answer such as `main` and `solver.c:142 (discriminator 2)`."""
    file, _, number = line.split(" (", maxsplit=1)[0].rpartition(":")
    is_known = _UNKNOWN not in file and number.isdigit() and int(number) > 0
    return Name(
        "" if _UNKNOWN in function else function,
        file if is_known else "",
        int(number) if is_known else 0,
    )
