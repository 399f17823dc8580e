"""Fixtures that ask the simulator of multicasts."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.base.native_files import executable
from tests.nhalf.measure.simulate.multicast.asking import (
    COSTS,
    Ask,
    answers,
)


@pytest.fixture(scope="module")
def program() -> str:
    return str(executable("multicast"))


@pytest.fixture(scope="module")
def ask(program: str) -> Ask:
    """Asks for one multicast: its record."""

    def asked(
        network: str, algorithm: str, group: int, forwarding: str = "host", size_bytes: int = 0,
        options: str = COSTS, **more: object,
    ) -> dict[str, Any]:  # fmt: skip
        axes = {"algorithm": algorithm, "forwarding": forwarding, "group": group, **more}
        line = f"id=x pattern=multicast bytes={size_bytes}"
        line += "".join(f" axis.{name}={value}" for name, value in axes.items())
        return answers(program, f"{options},{network}", [line])[0]

    return asked
