"""Whether ranks of a launch may be on several hosts, before any trace says it."""

from __future__ import annotations

from nhalf.base.errors import NhalfError
from nhalf.mpi.launch_settings import LaunchCommand
from nhalf.sites.allocation import allocation

HOST_OPTIONS = ("hosts", "host", "H", "f", "hostfile", "machinefile", "w", "nodelist", "N", "nodes")
"""Options by which launchers are told hosts, or their number."""


def may_span_hosts(launch: LaunchCommand) -> bool:
    """Whether a launch names hosts, or is made within a job that has several."""
    words = [word.lstrip("-").partition("=")[0] for word in launch.options if word.startswith("-")]
    if launch.launcher and set(words) & set(HOST_OPTIONS):
        return True
    try:
        allocated = allocation(launch.environment)
    except NhalfError:
        return False
    return allocated is not None and len(allocated.hosts) > 1
