# SPDX-License-Identifier: Apache-2.0
"""The units of a study's numbers."""

from __future__ import annotations

from typing import Literal

Unit = Literal["s", "Bps", "bytes", "ratio", "s/B", "share", "cycles", "flop/s"]
ENDINGS: dict[str, Unit] = {"_s": "s", "_Bps": "Bps", "_bytes": "bytes", "_share": "share"}


def unit_of_name(name: str) -> Unit:
    """The unit that ends a name: 's' of 'root_s'; numbers without any count as ratios."""
    return next((unit for end, unit in ENDINGS.items() if name.endswith(end)), "ratio")
