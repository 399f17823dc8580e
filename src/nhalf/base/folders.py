# SPDX-License-Identifier: Apache-2.0
"""The user's folders: data (installed libraries) and cache (identifications, compiled probes)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

CACHE_REMEDY = "make room or set XDG_CACHE_HOME to a folder that can be written"


def data_folder() -> Path:
    """XDG_DATA_HOME/nhalf, by default ~/.local/share/nhalf; it need not exist."""
    return _folder("XDG_DATA_HOME", ".local/share")


def cache_folder() -> Path:
    """XDG_CACHE_HOME/nhalf, by default ~/.cache/nhalf; it need not exist."""
    return _folder("XDG_CACHE_HOME", ".cache")


def mpi_folder() -> Path:
    """Where `nhalf mpi install` puts one prefix per library and version."""
    return data_folder() / "mpi"


def _folder(variable: str, below_home: str) -> Path:
    given = Path(os.environ.get(variable, ""))
    # The XDG specification asks to ignore values that are not absolute.
    if given.is_absolute():
        return given / "nhalf"
    try:
        return Path.home() / below_home / "nhalf"
    except RuntimeError:  # an account without a home, as in some containers
        return Path(tempfile.gettempdir()) / f"nhalf-{os.getuid()}"
