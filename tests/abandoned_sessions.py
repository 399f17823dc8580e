"""Folders of Open MPI's launchers that have ended."""

import os
import tempfile
from pathlib import Path

from nhalf.base.open_files import NAME


def abandoned_sessions() -> list[int]:
    """The launchers on this host that have ended and left a folder."""
    names = [NAME.fullmatch(name) for name in os.listdir(tempfile.gettempdir())]
    launchers = [int(match[1]) for match in names if match]
    return [launcher for launcher in launchers if not Path(f"/proc/{launcher}").exists()]
