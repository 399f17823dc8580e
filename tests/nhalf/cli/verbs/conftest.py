"""Files of what is expected of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def promise(tmp_path: Path) -> Callable[[str], str]:
    def make(text: str) -> str:
        path = tmp_path / "promise.toml"
        path.write_text(text)
        return str(path)

    return make
