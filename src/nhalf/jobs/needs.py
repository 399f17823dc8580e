"""Resources of a job: hosts by number or name, and time; checked before it is queued."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError, MissingError, unknown
from nhalf.measure.plan.planning import plan_of
from nhalf.measure.plan.resolve import ALL
from nhalf.measure.probe.pattern import every_info
from nhalf.measure.probe.subject import transport_file
from nhalf.sites.hosts import Host, parse_hosts, read_host_file
from nhalf.sites.site import Site

if TYPE_CHECKING:
    from nhalf.measure.plan.plan import Plan
    from nhalf.measure.plan.request import PlanRequest, Where
    from nhalf.sites.batch import BatchSystem

CORES_MOST = 1 << 16
"""The cores assumed for unknown hosts; the job checks whether ranks have enough."""


def needs(request: PlanRequest, nodes: int, named_hosts: int) -> tuple[int, float]:
    """Return the number of hosts a run needs and its budget in seconds; check all that is possible.

    Hosts are the `nodes` requested or the `named_hosts`, else those of the placement with the most
    hosts. Raises InputError if that needs more.
    """
    by_user = nodes or named_hosts
    placement_hosts = 1
    if "placement" in request.given:
        placement_hosts = max(placement.check().hosts for placement in request.placements)
    if 0 < by_user < placement_hosts:
        option = f"--nodes={nodes}" if nodes else "--hosts"
        raise InputError(
            f"--placement {request.placement} needs {placement_hosts} hosts, "
            f"and {option} gives {by_user}",
            "ask for more hosts, or for another placement",
        )
    hosts = tuple(Host(f"n{number}", CORES_MOST) for number in range(by_user or placement_hosts))
    plan = plan_of(request, Site(hosts, request.launcher))
    _check_names(plan)
    placements = (placement for block in plan.blocks for placement in block.parsed_placements)
    needed = max((placement.hosts for placement in placements), default=1)
    return by_user or needed, plan.budget_s


def _check_names(plan: Plan) -> None:
    """Raises InputError for names and sizes that are invalid in any job, before it is queued.

    Libraries are checked in the job: there may be none here.
    """
    for transport in plan.transports:
        transport_file(transport)
    for block in plan.blocks:
        for ranks in block.ranks:
            block.sizes_on(ranks)
    patterns = {}
    with contextlib.suppress(MissingError):
        patterns = every_info()
    for name in plan.patterns if patterns and not plan.study else ():
        if name not in patterns and name != ALL:
            raise unknown("pattern", name, patterns, "nhalf run --list")


def named_hosts(where: Where) -> list[str]:
    """Return the names of the hosts that the user named, by --hosts or in a file."""
    if where.hosts and where.host_file:
        raise InputError("--hosts and --host-file name hosts twice", "give one of them")
    if where.host_file:
        return [host.name for host in read_host_file(where.host_file)]
    return [host.name for host in parse_hosts(where.hosts)] if where.hosts else []


def hosts_to_resume_on(
    where: Where, plan: Plan | None, system: BatchSystem, options: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return the names of the hosts, if named, and the arguments that pass them to nhalf."""
    arguments = [f"--launcher={where.launcher}"] if where.launcher else []
    if not (where.hosts or where.host_file) and plan is not None:
        file = Path(plan.host_file) if plan.host_file else None
        where = replace(where, hosts=plan.hosts, host_file=file)
    names = named_hosts(where)
    if not names:
        return [], arguments
    hosts = hosts_up(system, list(options), names)
    if not hosts:
        raise MissingError(f"none of {', '.join(names)} is up", "give others with --hosts")
    return hosts, [*arguments, f"--hosts={','.join(hosts)}"]


def hosts_up(system: BatchSystem, options: Sequence[str], hosts: Sequence[str]) -> list[str]:
    """Select the usable hosts; all of them if the system does not report any."""
    usable = set(system.usable_hosts(options))
    return [host for host in hosts if host in usable] if usable else list(hosts)
