"""Where a search keeps its trace and tuning files: ranks on all hosts have to read them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.launch.survivor import Survivor
from nhalf.experiment.improve.spanned_hosts import may_span_hosts
from nhalf.mpi.launch_settings import LaunchCommand


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
    with Survivor.own().holding(folder) as name:
        yield name
