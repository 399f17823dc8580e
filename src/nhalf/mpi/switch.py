"""Settings of a library that may make a program faster: what they affect, and what they need."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from nhalf.mpi.launch_settings import LaunchCommand


@dataclass(frozen=True)
class Affected:
    """Calls by what they do and by size: `operations` names collectives, none for no collective.

    `messages` are all calls that move data between two ranks; `everything` is all of MPI, the
    start of the ranks, and with `computing` the time between calls as well. Of collectives only
    those of `ranks` ranks are affected, unless it is 0.
    """

    everything: bool = False
    computing: bool = False
    messages: bool = False
    operations: tuple[str, ...] = ()
    from_bytes: float = 0
    to_bytes: float = math.inf
    ranks: int = 0

    def holds(self, size_bytes: float) -> bool:
        """Whether a size is among those affected."""
        return self.from_bytes <= size_bytes <= self.to_bytes


ALL = Affected(everything=True, computing=True)
"""Where ranks run, and what else takes their cores: nothing is left out."""
MPI = Affected(everything=True)
"""How a library sends anything at all."""
MESSAGES = Affected(messages=True)


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


@dataclass(frozen=True)
class LibrarySwitch:
    """A setting: `text` says what it does, `promise_share` how much of its bound it may well save.

    `options` of the launcher take the place of all those named in `replaced`, without dashes. A
    switch that `overlaps` is made for transfers that could go on while ranks compute.
    """

    name: str
    text: str
    variables: Mapping[str, str] = field(default_factory=dict)
    replaced: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    affected: Affected = MPI
    needs: Needs = nothing
    promise_share: float = 0.2
    overlaps: bool = False


def progress_thread(
    variables: Mapping[str, str],
    text: str = "a thread of each rank moves data while it computes",
    needs: Needs = nothing,
    how: str = "",
    promise_share: float = 0.5,
) -> LibrarySwitch:
    """Transfers that go on while the rank computes, by a thread that takes time of some core.

    `how` tells ways apart where there are several.
    """
    return LibrarySwitch(
        f"progress while computing{how}",
        text,
        variables,
        affected=ALL,
        needs=needs,
        promise_share=promise_share,
        overlaps=True,
    )


def bound_by_options(*words: str, replaced: tuple[str, ...] = BINDING) -> LibrarySwitch:
    """One core for each rank, by the options of a launcher."""
    return LibrarySwitch(
        "bound to cores",
        "every rank keeps one core",
        replaced=replaced,
        options=words,
        affected=ALL,
        needs=core_for_each_rank,
        promise_share=0.1,
    )


def unbound_by_options(
    *words: str, needs: Needs = nothing, replaced: tuple[str, ...] = BINDING
) -> LibrarySwitch:
    """No binding, by the options of a launcher: threads of a rank may have cores of their own."""
    return LibrarySwitch(
        "not bound",
        "ranks and their threads may run on any core",
        replaced=replaced,
        options=words,
        affected=ALL,
        needs=needs,
        promise_share=0.05,
    )


SRUN_SWITCHES = (
    bound_by_options("--cpu-bind=cores", replaced=("cpu-bind",)),
    unbound_by_options("--cpu-bind=none", replaced=("cpu-bind",)),
)
"""What srun binds, whatever the library."""
