"""What tests of a shared /tmp have in common: a user, a stranger, and how to be that user."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

STRANGER = 54322
USER = 54321
AS_USER = ("unshare", "--user", f"--map-user={USER}")
TREE = {
    "PATH": "/usr/bin:/bin",
    "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""The environment of a user who has nothing but this tree."""


def _can_be_another() -> bool:
    """Whether this system lets a process be another user in its own namespace."""
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run([*AS_USER, "true"], check=False, capture_output=True)
    return tried.returncode == 0


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")
needs_namespaces = pytest.mark.skipif(not _can_be_another(), reason="no user namespaces here")
