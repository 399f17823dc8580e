# SPDX-License-Identifier: Apache-2.0
"""Events as the run loop writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Event = Callable[..., dict[str, Any]]


@pytest.fixture
def point_event() -> Event:
    """A point's event; columns may be given other values."""

    def make(**columns: Any) -> dict[str, Any]:
        return {
            "event": "point",
            "subject": "mpich-5.0.2",
            "transport": "mpi",
            "mpi": "mpich-5.0.2",
            "pattern": "pingpong",
            "algorithm": "native",
            "ranks": 2,
            "placement": "cores",
            "bytes": 8,
            "launch": 0,
            "position": 0,
            "started_s": 1.7e9,
            "batch": 100,
            "messages_per_round": 2,
            "bytes_per_time": 8,
            "stop": "precision",
            "verified": True,
            "advice": [],
            "samples_s": [1e-6, 1.1e-6, 1.2e-6],
            **columns,
        }

    return make
