# SPDX-License-Identifier: Apache-2.0
"""Where a search keeps its trace and tuning files: ranks on all hosts have to read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from nhalf.base.errors import NhalfError
from nhalf.mpi.launch_settings import parse_launch
from nhalf.sites.allocation import allocation

HOST_OPTIONS = ("hosts", "host", "H", "f", "hostfile", "machinefile", "w", "nodelist", "N", "nodes")
"""Options by which launchers are told hosts, or their number."""


def parent_folder(command: Sequence[str], environment: Mapping[str, str]) -> Path | None:
    """The folder for that of a search: the present one if there may be several hosts.

    A cluster's hosts usually share the former, and never that for temporary files. None for the
    latter.
    """
    launch = parse_launch(command, environment)
    words = [word.lstrip("-").partition("=")[0] for word in launch.options if word.startswith("-")]
    if launch.launcher and set(words) & set(HOST_OPTIONS):
        return Path.cwd()
    try:
        allocated = allocation(environment)
    except NhalfError:
        return None
    return Path.cwd() if allocated is not None and len(allocated.hosts) > 1 else None
