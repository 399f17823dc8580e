# SPDX-License-Identifier: Apache-2.0
"""The options of a launcher one by one, so that two launches can be compared and mixed."""

from __future__ import annotations

from nhalf.mpi.launch_settings import LaunchCommand
from nhalf.mpi.launch_words import BOTH, LAUNCHERS

ALIASES = {"np": "n"}
"""Options that have two names."""


def launcher_options(launch: LaunchCommand) -> dict[str, tuple[str, ...]]:
    """The words of each option by its name; those of one that stands twice follow one another."""
    table = LAUNCHERS.get(launch.family, BOTH)
    options: dict[str, tuple[str, ...]] = {}
    at = 0
    while at < len(launch.options):
        option = launch.options[at]
        bare = option.partition("=")[0].lstrip("-")
        values = 0 if "=" in option else table.values.get(bare, 0)
        words = launch.options[at : at + 1 + values]
        name = f"-{ALIASES.get(bare, bare)}" if bare else option
        options[name] = (*options.get(name, ()), *words)
        at += 1 + values
    return options
