"""Settings of a library that may make a program faster: rows of the file of its vendor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nhalf.mpi.affected import ALL, MPI, Affected
from nhalf.mpi.needs import BINDING, Needs, core_for_each_rank, nothing


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
