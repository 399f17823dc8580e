# SPDX-License-Identifier: Apache-2.0
"""Changes against a baseline, curve by curve, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from nhalf.decide.check.verdict import Check

COLOURS = {
    "regression": "red",
    "incomplete": "red",
    "unclear": "yellow",
    "no regression": "green",
}
SHOWN_MAX = 8


def show_effects(console: Console, check: Check) -> None:
    """Print the curves that changed most, worst first, and the verdict as the last line."""
    from nhalf.decide.check.regression import effects, finding

    for effect in effects(check)[:SHOWN_MAX]:
        console.print(f"{effect.name}: {effect.in_words}", markup=False, soft_wrap=True)
    verdict = finding(check)
    console.print(verdict, style=f"bold {COLOURS[verdict]}")
