"""The end of a search that launches programs until its budget is spent."""

from __future__ import annotations

from nhalf.base.errors import NhalfError


class OutOfTime(NhalfError):
    """The budget of a search is spent."""

    def __init__(self) -> None:
        """Say so, and how to give more."""
        super().__init__("the budget is spent", "give more with --budget")
