"""The noise of `nhalf try`: another one for every launch, as on a machine that is there."""

from __future__ import annotations

from nhalf.mpi.launch_options import launcher_options
from nhalf.mpi.launch_settings import LaunchCommand, with_options
from nhalf.mpi.launch_words import TRIAL


def with_new_noise(launch: LaunchCommand, number: int) -> LaunchCommand:
    """A launch of `nhalf try` with the noise of this number, if it has any."""
    if launch.family != TRIAL or "noise" not in launcher_options(launch):
        return launch
    return with_options(launch, ("seed",), ("--seed", str(number)))
