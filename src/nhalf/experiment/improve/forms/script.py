"""A script that sets the variables and starts the program."""

import shlex

from nhalf.experiment.improve.forms import Winner, WinnerForm


class Script(WinnerForm):
    """Any winner; arguments of the script follow those of the program."""

    endings = (".sh",)
    is_executable = True

    def text(self, winner: Winner) -> str:
        """The remarks, the variables that differ, and the command."""
        lines = ["#!/bin/sh", *winner.comments("#"), *winner.variable_lines]
        return "\n".join([*lines, f'exec {shlex.join(winner.improved.words)} "$@"', ""])
