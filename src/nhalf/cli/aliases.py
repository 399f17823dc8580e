"""Verbs by other names: those of other tools, and those that verbs of nhalf had."""

from __future__ import annotations

import sys
from collections.abc import Sequence

USUAL = {
    **dict.fromkeys(("measure", "bench", "benchmark"), ("run",)),
    **dict.fromkeys(("profile", "record"), ("trace",)),
    **dict.fromkeys(("diff",), ("compare",)),
    **dict.fromkeys(("query",), ("show", "--sql")),
}
"""What other tools call a verb, and what it is called here; shown nowhere."""
FORMER = {
    "ledger": ("predict", "--score"),
    "selftest": ("doctor", "--selftest"),
    "simulate": ("predict", "--engine", "simgrid"),
    "sql": ("show", "--sql"),
}
"""Former verbs, and how they are written now; understood for a release, with a hint."""


def current(words: Sequence[str], *, is_silent: bool = False) -> list[str]:
    """A command line with the present name of its verb; a hint names it in place of a former one.

    `words` has one word at least. The hint goes to standard error.
    """
    name, *further = words
    if name in FORMER and not is_silent:
        present = " ".join(("nhalf", *FORMER[name]))
        sys.stderr.write(f"nhalf: the verb {name} is now: {present}\n")
    return [*{**USUAL, **FORMER}.get(name, (name,)), *further]
