"""The places in a program that call MPI: the same number on all ranks, with their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from nhalf.measure.traced.layout import Module, ProcessFile, ThreadFile
from nhalf.measure.traced.symbols import Name, Names
from nhalf.measure.traced.tables import SITES

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
