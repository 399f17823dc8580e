# SPDX-License-Identifier: Apache-2.0
"""srun outside an allocation: the command starts again inside one."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from nhalf.base.errors import MissingError

if TYPE_CHECKING:
    from nhalf.jobs.request import RunRequest
    from nhalf.measure.apps import AppRequest
    from nhalf.store.run import Run

    Allocating = RunRequest | AppRequest
    """What may need an allocation."""

HOSTS_TAKEN = 4
"""This many hosts are taken where nobody says how many: a cluster is shared."""
SRUN = "srun"


def allocate(request: Allocating) -> None:
    """Become salloc with this very command, where srun is requested outside an allocation.

    One allocation for the whole run: no launch waits in the queue, all have the same hosts, and
    it ends when the run ends, however that happens. A host that dies does not end it. Does
    nothing in any other case; raises MissingError if there is no Slurm.
    """
    if os.environ.get("SLURM_JOB_ID"):
        return
    run = _resumed(request)
    if (request.launcher or _said(run, "launcher")) != SRUN:
        return
    if shutil.which("salloc") is None:
        raise MissingError("srun needs Slurm: salloc is not found", "load Slurm's module")
    hosts = _named(request) or (_hosts_of(run) if run else _hosts(request))
    words = ["salloc", "--no-kill", "--exclusive", "--job-name=nhalf", *hosts]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvp("salloc", [*words, sys.executable, "-P", "-m", "nhalf", *sys.argv[1:]])


def _resumed(request: Allocating) -> Run | None:
    """The run that goes on, None if one begins."""
    if request.resume is None:
        return None
    from nhalf.store.run import Run

    return Run.open(request.resume)


def _said(run: Run | None, name: str) -> str:
    """What the plan of a run says, '' if there is none."""
    return str(run.plan.get(name, "")) if run else ""


def _named(request: Allocating) -> list[str]:
    """The hosts that the user names now."""
    return _these(request.hosts, request.host_file_path, frozenset())


def _these(hosts: str, host_file: str, dead: frozenset[str]) -> list[str]:
    from nhalf.sites.site import find_site

    names = [host.name for host in find_site(hosts, host_file, SRUN).hosts]
    left = [name for name in names if name not in dead]
    return [f"--nodes={len(left)}", f"--nodelist={','.join(left)}"] if left else []


def _hosts_of(run: Run) -> list[str]:
    """As many hosts as a run began with, without those that it lost: Slurm may not know yet."""
    lost = frozenset(event["host"] for event in run.events() if event["event"] == "host")
    named = _these(_said(run, "hosts"), _said(run, "host_file"), lost)
    if named:
        return named
    idle = sum(name not in lost for name in _idle())
    nodes = min(int(_said(run, "hosts_found") or 1), max(idle, 1))
    return [f"--nodes={nodes}", *([f"--exclude={','.join(sorted(lost))}"] if lost else [])]


def _hosts(request: Allocating) -> list[str]:
    """As many hosts as the placements need, a few where they do not say."""
    from nhalf.machines.layout import parse_layout
    from nhalf.measure.plan.planning import words

    layouts = [layout for text in words(request.placement) if (layout := parse_layout(text))]
    if layouts:
        return [f"--nodes={max(layout.hosts for layout in layouts)}"]
    return [f"--nodes={min(HOSTS_TAKEN, len(_idle()))}"]


def _idle() -> list[str]:
    from nhalf.sites.allocation import idle_hosts

    return [host.name for host in idle_hosts().hosts]
