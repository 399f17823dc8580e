# SPDX-License-Identifier: Apache-2.0
"""What all tests share: where the compiled probes are, unless NHALF_NATIVE_DIR says it; order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parent.parent / "build" / "native"

if (NATIVE / "bin").is_dir():
    os.environ.setdefault("NHALF_NATIVE_DIR", str(NATIVE))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first: at the end, nobody waits for one worker's long file."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
