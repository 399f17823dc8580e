# SPDX-License-Identifier: Apache-2.0
"""Where a search keeps its trace and tuning files: ranks on all hosts have to read them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nhalf.base.errors import MissingError, NhalfError
from nhalf.mpi.launch_settings import LaunchCommand
from nhalf.sites.allocation import allocation

HOST_OPTIONS = ("hosts", "host", "H", "f", "hostfile", "machinefile", "w", "nodelist", "N", "nodes")
"""Options by which launchers are told hosts, or their number."""


def parent_folder(launch: LaunchCommand) -> Path | None:
    """The folder for that of a search: the present one if there may be several hosts.

    A cluster's hosts usually share the former, and never that for temporary files. None for the
    latter.
    """
    return Path.cwd() if may_span_hosts(launch) else None


@contextmanager
def search_folder(launch: LaunchCommand) -> Iterator[str]:
    """The folder of a search, which is removed at its end.

    Raises MissingError if it cannot be made.
    """
    parent = parent_folder(launch)
    try:
        folder = tempfile.TemporaryDirectory(prefix="nhalf-improve-", dir=parent)
    except OSError as error:
        where = parent or tempfile.gettempdir()
        remedy = "start it in a folder that can be written, which all hosts share"
        raise MissingError(
            f"cannot write in {where}: {error.strerror or error}",
            remedy if parent else "name a folder for temporary files with TMPDIR",
        ) from error
    with folder as name:
        yield name


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
