"""Sample logs: the forms are those of the suites, the numbers are made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.exchange.logs.log import Log, decode, read_text

LOGS = Path(__file__).resolve().parents[2] / "data" / "logs"


@pytest.fixture
def logs() -> Path:
    """The folder of the sample logs."""
    return LOGS


@pytest.fixture
def read() -> Callable[..., Log]:
    """Reads a sample log; `ranks` as a user would give them."""
    return lambda name, ranks=0: read_text(decode((LOGS / name).read_bytes()), ranks)
