"""`nhalf run --dry-run`: the commands that would start the ranks.

Nothing is compiled, started or written.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from nhalf.base.compiled import without_compiling
from nhalf.base.errors import MissingError, NhalfError
from nhalf.measure.loop.session import check_before_probes, checked
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Plan
from nhalf.measure.plan.state import RunState
from nhalf.measure.virtual.machine import VirtualMachine
from nhalf.sites.placement import FREE
from nhalf.sites.site import HERE, Site


@dataclass(frozen=True)
class Rehearsal:
    """The commands of a plan, in its order; why a subject has none; what would be compiled."""

    commands: list[RankCommand]
    failed: dict[str, str]
    compiling: list[str]


@dataclass(frozen=True)
class RankCommand:
    """How to start ranks: subject, number and placement; command line and variables to add."""

    subject: str
    ranks: int
    placement: str
    command: list[str]
    variables: dict[str, str]

    @property
    def line(self) -> str:
        """The command as a shell reads it."""
        own = [f"{name}={value}" for name, value in self.variables.items()]
        return shlex.join([*(["env"] if own else []), *own, *self.command])


def rehearse(plan: Plan, site: Site = HERE, machine: VirtualMachine | None = None) -> Rehearsal:
    """Return the commands of a plan, and what would be compiled for them.

    A launcher's program need not be here. Raises InputError for an impossible plan, MissingError
    where nothing could be started.
    """
    check_before_probes(plan)
    with without_compiling() as programs:
        commands, failed = _commands(plan, site, machine)
    if not commands:
        raise MissingError(f"nothing would be started: {'; '.join(failed.values())}")
    return Rehearsal(commands, failed, list(programs))


def _commands(
    plan: Plan, site: Site, machine: VirtualMachine | None
) -> tuple[list[RankCommand], dict[str, str]]:
    plan, subjects, failed = checked(plan, machine)
    by_key = {subject.key: subject for subject in subjects}
    commands = []
    for start in Agenda(plan, subjects, RunState(placement=FREE)).starts():
        subject = by_key[start.subject]
        try:
            words, variables = subject.launch(start.ranks, start.placement, plan.options, site)
        except NhalfError as error:
            failed[subject.title] = str(error)
            continue
        commands.append(RankCommand(subject.key, start.ranks, start.placement, words, variables))
    return commands, failed
