"""Functions of a program or library, from the symbol tables of its file.

The format is that of ELF: System V Application Binary Interface, chapters 4 and 5 (sections,
symbol table); 64 bits, little-endian, as on every processor that nhalf traces on. pyelftools finds
the tables; their rows are read together, since one by one they would take twenty times as long.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

import numpy as np

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
