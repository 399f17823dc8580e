# SPDX-License-Identifier: Apache-2.0
"""Exporters: what nhalf knows, in the form that another program reads; one file, one program.

To add one, put a file into this folder: `NAME.py` with one class that derives from `Exporter`. It
is then `nhalf export --to NAME`; no other file changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from nhalf.store.run import Run

PACKAGE = "nhalf.exporters"


class Exporter(ABC):
    """Writes one form."""

    what: ClassVar[str]
    """One sentence: what is written, and for which program."""

    @abstractmethod
    def text(self, run: Run | None) -> str:
        """The whole file, of a run or, where that makes sense, of none.

        Raises InputError where a run is needed, or this one has not what is.
        """
