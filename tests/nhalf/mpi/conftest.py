from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs that are compiled once for all tests."""
    return tmp_path_factory.mktemp("programs")
