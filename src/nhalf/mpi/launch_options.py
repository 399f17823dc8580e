"""The options of a launcher one by one, so that two launches can be compared and mixed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from nhalf.mpi.launch_settings import LaunchCommand
from nhalf.mpi.launch_words import BOTH, LAUNCHERS

ALIASES = {"np": "n"}
"""Options that have two names."""


def launcher_options(launch: LaunchCommand) -> dict[str, tuple[str, ...]]:
    """The words of each option by its name without dashes, once for every time that it is given.

    Those of one that is given twice follow one another.
    """
    table = LAUNCHERS.get(launch.family, BOTH)
    options: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(launch.options):
        option = launch.options[at]
        bare = option.partition("=")[0].lstrip("-")
        values = 0 if "=" in option else table.values.get(bare, 0)
        words = launch.options[at : at + 1 + values]
        name = ALIASES.get(bare, bare)
        options[name] = (*options.get(name, ()), *words)
        at += 1 + values
    return options


def option_value(words: Sequence[str]) -> str:
    """The value of an option from its words; 'set' for one without a value."""
    values = [word.partition("=")[2] if "=" in word else word for word in words]
    return shlex.join(word for word in values if not word.startswith("-")) or "set"
