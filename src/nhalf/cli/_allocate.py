# SPDX-License-Identifier: Apache-2.0
"""srun outside of an allocation: the command starts again inside of one."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from nhalf.errors import MissingError

HOSTS_TAKEN = 4
"""So many hosts are taken where nobody says how many: a cluster is shared."""


def allocate(options: Mapping[str, Any]) -> None:
    """Become salloc with this very command, where srun is asked for outside of an allocation.

    One allocation for the whole run: no launch waits in the queue, all have the same hosts, and
    it ends when the run ends, however that happens. A host that dies does not end it. Does
    nothing in any other case; raises MissingError where there is no Slurm.
    """
    launcher = options["launcher"] or _launcher_of_run(options)
    if launcher != "srun" or os.environ.get("SLURM_JOB_ID"):
        return
    if shutil.which("salloc") is None:
        raise MissingError("srun needs Slurm: salloc is not found", "load Slurm's module")
    command = [sys.executable, "-m", "nhalf", *sys.argv[1:]]
    words = ["salloc", "--no-kill", "--exclusive", "--job-name=nhalf", *_hosts(options)]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvp("salloc", [*words, *command])


def _launcher_of_run(options: Mapping[str, Any]) -> str:
    """The launcher of the run that goes on, '' where none does."""
    if options["resume"] is None:
        return ""
    from nhalf.store.run import Run

    return str(Run.open(options["resume"]).plan.get("launcher", ""))


def _hosts(options: Mapping[str, Any]) -> list[str]:
    """Which hosts to ask for: those that are named, else as many as the placements need."""
    from nhalf.cli._plan import host_file, words
    from nhalf.study.allocation import idle_hosts
    from nhalf.study.layout import parse_layout
    from nhalf.study.site import find_site

    named = find_site(options["hosts"], host_file(options), "srun").hosts
    if named:
        names = ",".join(host.name for host in named)
        return [f"--nodes={len(named)}", f"--nodelist={names}"]
    layouts = [layout for text in words(options["placement"]) if (layout := parse_layout(text))]
    if layouts:
        return [f"--nodes={max(layout.hosts for layout in layouts)}"]
    return [f"--nodes={min(HOSTS_TAKEN, len(idle_hosts().hosts))}"]
