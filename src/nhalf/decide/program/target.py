"""What a program is predicted for: a machine, a library, and the node of each rank."""

from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.decide.program.asked_operations import AskedOperations
from nhalf.decide.program.costs import MachineCosts
from nhalf.facts.program.program import Program
from nhalf.machines.computing import AS_MEASURED, UNKNOWN, ComputingRatio
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.machines.wires import nodes_of
from nhalf.mpi.decision_table import Rule

AS_IT_WAS = ComputingRatio(1.0, {"as it was": 1.0}, AS_MEASURED)
NOT_KNOWN = ComputingRatio(1.0, {"not at all": 0.0, "as it was": 1.0}, UNKNOWN)
"""The ratio of a machine with other cores, of which nobody knows how fast they are."""


@dataclass(frozen=True)
class Target:
    """The target of a prediction: messages of a machine and library, and a placement ('4x2').

    `computing` is how many times as long computing takes there, one number or by rates; `rules` are
    a decision table of algorithms; with `simgrid` messages share links. `answers` are those of
    an MPI library that runs there, `not_asked` is why there are none.
    """

    messages: Messages
    placement: str = ""
    computing: ComputingRatio = AS_IT_WAS
    simgrid: bool = False
    rules: tuple[Rule, ...] = ()
    answers: AskedOperations | None = None
    not_asked: str = ""

    @property
    def library(self) -> str:
        """The library that was asked, else that of the messages."""
        return self.answers.name if self.answers else self.messages.library

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why operations are not those of the library that was named, a sentence each."""
        of_library = self.answers.reasons if self.answers else ()
        return (*filter(None, [self.not_asked]), *of_library)

    def costs_of(self, program: Program, traced_on: str) -> MachineCosts:
        """The costs of a program that was traced on the machine of this name, '' if unknown."""
        return self.costs(hosts_on(program, self.messages.machine, self.placement, traced_on))

    def costs(self, hosts: Sequence[str], guess_ratio: float = 1.0) -> MachineCosts:
        """The costs of ranks on these hosts."""
        costs = MachineCosts(self.messages, hosts, self.rules, guess_ratio)
        if self.answers is not None:
            is_other = self.answers.name != self.messages.library
            own = self.answers
            costs.asks(own.answer, own.left, own.crowd, own.leave, where_measured=is_other)
        return costs


def hosts_on(
    program: Program, machine: Machine, placement: str, traced_on: str = ""
) -> tuple[str, ...]:
    """The node of each rank on a machine: without a placement as traced, if that was there or its
    file says nothing of nodes; else node after node is filled, as `nhalf try` does it.

    Raises InputError if the machine has too few nodes, or a node holds fewer ranks.
    """
    virtual = program.trace.virtual
    is_there = machine.name in (traced_on, virtual.machine if virtual else "")
    hosts = hosts_of(program, placement)
    if machine.network is None or (not placement and (is_there or not program.is_timed)):
        return hosts
    return tuple(map(str, nodes_of(machine, program.ranks, ",".join(hosts) if placement else "")))


def hosts_of(program: Program, placement: str) -> tuple[str, ...]:
    """The node of each rank: as traced, or in a layout such as 4x2."""
    if not placement:
        return program.hosts
    layout = parse_layout(placement)
    if layout is None:
        raise InputError(
            f"{placement!r} is not a placement", "write HOSTSxRANKS, such as 4x2 or 4x2+1"
        )
    if layout.ranks < program.ranks:
        message = f"{placement} has room for {layout.ranks} of {program.ranks} ranks"
        raise InputError(message, "name more hosts, or more ranks on each")
    return tuple(str(layout.host_of(rank)) for rank in range(program.ranks))
