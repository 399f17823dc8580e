# SPDX-License-Identifier: Apache-2.0
"""Machines that are not there, as options name them for verbs that measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from nhalf.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from nhalf.measure.virtual.machine import VirtualMachine
    from nhalf.sites.placement import Placement

OF_HOSTS = ("hosts", "host_file", "launcher")
"""Options that have no meaning without hosts."""


class Asked(Protocol):
    """A request that may name such a machine."""

    @property
    def machine(self) -> str:
        """The machine, '' for real hosts."""

    @property
    def ranks(self) -> str:
        """The numbers of ranks."""

    @property
    def given(self) -> Set[str]:
        """The options that were given."""


def virtual_machine(
    request: Asked, placements: Sequence[Placement], cores_least: int = 0
) -> VirtualMachine | None:
    """The machine that a request names, with nodes for its ranks; None for real hosts.

    Where ranks are as many as cores, there are `cores_least`. Raises InputError for an unknown
    machine, and for options that go with hosts only.
    """
    if not request.machine:
        return None
    for name in OF_HOSTS:
        if name in request.given:
            raise InputError(
                f"--{name.replace('_', '-')} does not go with --machine",
                "all ranks of a machine that is not there run on this host: leave it out",
            )
    from nhalf.cli.machine_side import machine_and_library
    from nhalf.machines.message import Messages
    from nhalf.measure.simulate.room import ranks_asked
    from nhalf.measure.virtual.machine import CORES_USUAL, VirtualMachine

    if "cores" in request.ranks:
        cores_least = max(cores_least, CORES_USUAL)
    ranks = max(ranks_asked(request.ranks, placements), cores_least)
    messages = Messages(*machine_and_library(request.machine))
    return VirtualMachine.for_ranks(messages, ranks, placements)
