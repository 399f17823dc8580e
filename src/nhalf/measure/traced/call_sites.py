# SPDX-License-Identifier: Apache-2.0
"""The places in a program that call MPI: the same number on all ranks, with their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from nhalf.measure.traced.layout import ProcessFile, ThreadFile
from nhalf.measure.traced.symbols import Names
from nhalf.measure.traced.tables import SITES

UNKNOWN = -1
_OFFSET_BITS = 48


class CallSites:
    """Numbers the call sites of all ranks by module and address."""

    def __init__(self, processes: Iterable[tuple[ProcessFile, Iterable[ThreadFile]]]) -> None:
        places = {
            place
            for process, threads in processes
            for thread in threads
            for place in _places(process, thread)
        }
        self._places = sorted(places)
        self._numbers = {place: number for number, place in enumerate(self._places)}

    def numbered(self, process: ProcessFile, thread: ThreadFile, local: Any) -> Any:
        """Map a thread's own numbers, from 1 on, to those of all; 0 is unknown."""
        numbers = [UNKNOWN, *(self._numbers[place] for place in _places(process, thread))]
        shared = np.array(numbers, np.int32)
        return shared[np.where(local < len(shared), local, 0)]

    def table(self, names: Names) -> pl.DataFrame:
        """Return the rows of the table of sites."""
        rows = []
        for (module, offset), name in zip(self._places, names.of(self._places), strict=True):
            rows.append(
                (self._numbers[module, offset], module, offset, name.function, name.file, name.line)
            )
        return pl.DataFrame(rows, SITES, orient="row")


def _places(process: ProcessFile, thread: ThreadFile) -> list[tuple[str, int]]:
    """The module and the address of each site of a thread."""
    mask = (1 << _OFFSET_BITS) - 1
    return [
        (process.modules.get(int(site) >> _OFFSET_BITS, ""), int(site) & mask)
        for site in thread.sites
    ]
