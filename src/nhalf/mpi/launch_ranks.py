"""How many ranks a command starts, by its words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from nhalf.mpi.launch_settings import LaunchCommand
from nhalf.mpi.launch_words import HYDRA, OPENMPI, SRUN, TRIAL

_NAMES = {
    HYDRA: ("n", "np"),
    OPENMPI: ("n", "np", "c"),
    SRUN: ("n", "ntasks"),
    TRIAL: ("ranks",),
    "": ("n", "np"),
}
"""Without their dashes. To srun, `-c` is a rank's cores."""


def ranks_in(launch: LaunchCommand) -> int | None:
    """The number of ranks that a launcher's options name; None if none does, or several programs
    share the launch.
    """
    if not launch.launcher or launch.is_several:
        return None
    values = _values(launch.options, _NAMES[launch.family])
    return int(values[-1]) if values and values[-1].isdecimal() else None


def _values(options: Sequence[str], names: Sequence[str]) -> list[str]:
    """What options of these names are given: `-n 4`, `--ntasks=4`, `-n4`."""
    values = []
    for word, following in pairwise([*options, ""]):
        if not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if name in names:
            values.append(value if equals else following)
        elif name[:1] in names and name[1:].isdecimal():
            values.append(name[1:])
    return values
