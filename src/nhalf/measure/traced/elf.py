# SPDX-License-Identifier: Apache-2.0
"""Functions of a program or library, from the symbol tables of its file.

The format is that of ELF: System V Application Binary Interface, chapters 4 and 5 (sections,
symbol table); 64 bits, little-endian, as on every processor that nhalf traces on.
"""

from __future__ import annotations

import mmap
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

_HEAD = np.dtype(
    [
        ("ident", "S16"),
        ("skipped", "V24"),
        ("sections_at", "<u8"),
        ("flags", "V10"),
        ("section_bytes", "<u2"),
        ("sections", "<u2"),
        ("names", "<u2"),
    ]
)
_SECTION = np.dtype(
    [
        ("name", "<u4"),
        ("type", "<u4"),
        ("flags", "<u8"),
        ("address", "<u8"),
        ("at", "<u8"),
        ("size_bytes", "<u8"),
        ("link", "<u4"),
        ("info", "<u4"),
        ("alignment", "<u8"),
        ("entry_bytes", "<u8"),
    ]
)
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
_MAGIC = b"\x7fELF\x02\x01"
_TABLES = (2, 11)
"""SHT_SYMTAB and SHT_DYNSYM."""
_FUNCTION = 2
"""STT_FUNC."""

Symbol = tuple[int, int, str]
"""Begin and end of a function, and its name."""


def functions_at(path: Path, addresses: Sequence[int]) -> list[str]:
    """Return the function of each address; '' where that is not known."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            symbols = sorted(_symbols(data))
    except (OSError, ValueError, IndexError, OverflowError):
        return [""] * len(addresses)
    return [_function_at(symbols, address) for address in addresses]


def _function_at(symbols: Sequence[Symbol], address: int) -> str:
    place = bisect_right(symbols, address, key=lambda symbol: symbol[0]) - 1
    if place < 0:
        return ""
    _, end, name = symbols[place]
    return name if address < end else ""


def _symbols(data: mmap.mmap) -> Iterator[Symbol]:
    """The functions of all symbol tables. Raises ValueError for a file that is no such one."""
    if data[: len(_MAGIC)] != _MAGIC:
        raise ValueError("not a file of the expected form")
    head = np.frombuffer(data, _HEAD, 1).copy()[0]
    sections = np.frombuffer(data, _SECTION, int(head["sections"]), int(head["sections_at"])).copy()
    for section in sections[np.isin(sections["type"], _TABLES)]:
        count = int(section["size_bytes"]) // _SYMBOL.itemsize
        rows = np.frombuffer(data, _SYMBOL, count, int(section["at"])).copy()
        rows = rows[((rows["info"] & 15) == _FUNCTION) & (rows["value"] > 0)]
        names_at = int(sections[int(section["link"])]["at"])
        for row in rows:
            begin, size_bytes = int(row["value"]), int(row["size_bytes"])
            at = names_at + int(row["name"])
            name = data[at : data.find(b"\0", at)].decode(errors="replace")
            yield begin, begin + max(1, size_bytes), name
