"""What a switch needs of a launch to be worth a try."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from nhalf.mpi.launch_settings import LaunchCommand

BINDING = ("bind-to", "binding", "map-by")
"""The options that bind ranks, of the launchers of libraries."""


class RankedLaunch(Protocol):
    """What decides whether a switch applies to a launch; `ranks` is 0 if it is unknown."""

    @property
    def launch(self) -> LaunchCommand:
        """The command with its variables."""

    @property
    def ranks(self) -> int:
        """The number of ranks."""

    @property
    def cores(self) -> int:
        """The cores of the host."""

    @property
    def is_on_one_host(self) -> bool:
        """Whether all ranks are on one host."""


Needs = Callable[[RankedLaunch], bool]


def nothing(launch: RankedLaunch) -> bool:
    """Applies to every launch."""
    return True


def one_host(launch: RankedLaunch) -> bool:
    """Applies where all ranks are on one host."""
    return launch.is_on_one_host


def several_hosts(launch: RankedLaunch) -> bool:
    """Applies where ranks are on several hosts."""
    return not launch.is_on_one_host


def core_for_each_rank(launch: RankedLaunch) -> bool:
    """Applies where every rank can have a core; of other hosts that is taken for granted."""
    return not launch.is_on_one_host or launch.ranks <= launch.cores


def too_few_cores(launch: RankedLaunch) -> bool:
    """Applies where ranks share cores."""
    return not core_for_each_rank(launch)


def bound_ranks(launch: RankedLaunch) -> bool:
    """Applies where options of the launcher bind ranks."""
    return any(word.lstrip("-").partition("=")[0] in BINDING for word in launch.launch.options)
