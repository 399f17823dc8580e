# SPDX-License-Identifier: Apache-2.0
"""Where the numbers of a machine come from."""

from __future__ import annotations

from typing import Protocol

from nhalf.studies.form import Quantity
from nhalf.studies.value import StudyValue


class NumberSource(Protocol):
    """Where the numbers of a machine come from: a run, or a record.

    `needs_intervals` says whether a number without an interval decides nothing.
    """

    name: str
    needs_intervals: bool

    def value(self, quantity: Quantity) -> StudyValue:
        """A number of the machine; raises InputError with the reason if it is not known."""
