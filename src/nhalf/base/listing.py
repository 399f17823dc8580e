# SPDX-License-Identifier: Apache-2.0
"""Lists in a line of text."""

from __future__ import annotations

from collections.abc import Sequence


def few(names: Sequence[str], most: int) -> str:
    """The first names of a list, at most so many, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
