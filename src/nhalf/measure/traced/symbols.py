"""Names of addresses in programs and libraries: function, file and line.

Files and lines come from `addr2line` of binutils or LLVM, where one is installed and the program
was compiled with -g. Otherwise functions come from the symbol table of the file itself: the one
that holds the address, if any does.

The format is that of ELF: System V Application Binary Interface, chapters 4 and 5 (sections,
symbol table); 64 bits, little-endian, as on every processor that nhalf traces on. pyelftools finds
the tables; their rows are read together, since one by one they would take twenty times as long.
"""

import shutil
import subprocess
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl

from nhalf.measure.traced.layout import Module, ProcessFile, ThreadFile
from nhalf.measure.traced.tables import SITES

_SYMBOL = np.dtype(
    [
        ("name", "<u4"),
        ("info", "u1"),
        ("other", "u1"),
        ("section", "<u2"),
        ("value", "<u8"),
        ("size_bytes", "<u8"),
    ]
)
_TABLES = ("SHT_SYMTAB", "SHT_DYNSYM")
_FUNCTION = 2
"""STT_FUNC."""
_UNDEFINED = 0
"""SHN_UNDEF: the function is elsewhere, and its value may be that of a stub."""

Symbol = tuple[int, int, str]
"""Begin and end of a function, and its name."""


def functions_at(path: Path, addresses: Sequence[int]) -> list[str]:
    """Return the function that holds each address, the innermost of several; '' where none does.

    A function without a size holds nothing: where it ends is not known.
    """
    # Few programs need it: others should not wait for its import.
    from elftools.common.exceptions import ELFError

    try:
        with path.open("rb") as file:
            symbols = sorted(_symbols(file))
    except (OSError, ELFError, ValueError, OverflowError):
        return [""] * len(addresses)
    ends = list(accumulate((end for _, end, _ in symbols), max))
    return [_function_at(symbols, ends, address) for address in addresses]


def _function_at(symbols: Sequence[Symbol], ends: Sequence[int], address: int) -> str:
    """The last symbol that begins before an address and ends after it; `ends` are the last ends of
    the symbols up to each.
    """
    place = bisect_right(symbols, address, key=lambda symbol: symbol[0]) - 1
    while place >= 0 and ends[place] > address:
        _, end, name = symbols[place]
        if address < end:
            return name
        place -= 1
    return ""


def _symbols(file: BinaryIO) -> Iterator[Symbol]:
    """The functions of all symbol tables. Raises ELFError, ValueError or OverflowError for a file
    that is damaged or of another form.
    """
    from elftools.elf.elffile import ELFFile

    program = ELFFile(file)
    if program.elfclass != 64 or not program.little_endian:
        raise ValueError("not a file of the expected form")
    for section in program.iter_sections():
        if section["sh_type"] not in _TABLES:
            continue
        table = section.data()
        rows = np.frombuffer(table, _SYMBOL, len(table) // _SYMBOL.itemsize)
        is_here = (rows["section"] != _UNDEFINED) & (rows["value"] > 0) & (rows["size_bytes"] > 0)
        rows = rows[((rows["info"] & 15) == _FUNCTION) & is_here]
        names = program.get_section(section["sh_link"]).data()
        for row in rows:
            begin, size_bytes, at = int(row["value"]), int(row["size_bytes"]), int(row["name"])
            name = names[at : names.find(b"\0", at)].decode(errors="replace")
            yield begin, begin + size_bytes, name.partition("@")[0]


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


UNKNOWN = -1
_OFFSET_BITS = 48
_NO_MODULE = Module("")

Place = tuple[Module, int]
"""A file, or a line of Python that called it, and the address there that a call returns to: 0 where
only the line of Python counts."""


class CallSites:
    """Numbers the call sites of all ranks by module and address."""

    def __init__(self, processes: Iterable[tuple[ProcessFile, Iterable[ThreadFile]]]) -> None:
        places = {
            place
            for process, threads in processes
            for thread in threads
            for place in _places(process, thread)
        }
        self._places = sorted(places, key=_order)
        self._numbers = {place: number for number, place in enumerate(self._places)}

    def numbered(self, process: ProcessFile, thread: ThreadFile, local: Any) -> Any:
        """Map a thread's own numbers, from 1 on, to those of all; 0 is unknown."""
        numbers = [UNKNOWN, *(self._numbers[place] for place in _places(process, thread))]
        shared = np.array(numbers, np.int32)
        return shared[np.where(local < len(shared), local, 0)]

    def table(self, names: Names) -> pl.DataFrame:
        """Return the rows of the table of sites."""
        compiled = [(module.path, offset) for module, offset in self._places if offset > 0]
        name_of = dict(zip(compiled, names.of(compiled), strict=True))
        rows = []
        for number, (module, offset) in enumerate(self._places):
            python = (module.python, module.line)
            name = name_of.get((module.path, offset))
            if name is None:
                name = Name(module.function, *python)
                python = ("", 0)
            rows.append((number, module.path, offset, name.function, name.file, name.line, *python))
        return pl.DataFrame(rows, SITES, orient="row")


def _order(place: Place) -> tuple[str, int, str, int, str]:
    module, offset = place
    return module.path, offset, module.python, module.line, module.function


def _places(process: ProcessFile, thread: ThreadFile) -> list[Place]:
    """The module and the address of each site of a thread."""
    mask = (1 << _OFFSET_BITS) - 1
    return [
        (process.modules.get(int(site) >> _OFFSET_BITS, _NO_MODULE), int(site) & mask)
        for site in thread.sites
    ]
