# SPDX-License-Identifier: Apache-2.0
"""The algorithms of collective operations, as the native part describes them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from nhalf.models.expression import Expression, parse

WORK_AXIS = "grain"
"""A pattern with this axis does an operation after stretches of work; it is none itself."""


@dataclass(frozen=True)
class Algorithm:
    """One way to do an operation: its name, what it does, whose it is, and what it costs.

    `cost` is None if it is not composed of measured parts.
    """

    name: str
    what: str
    source: str
    cost: Expression | None


@functools.cache
def algorithms() -> dict[str, tuple[Algorithm, ...]]:
    """By operation; raises MissingError if the native part is not here."""
    from nhalf.base.describe import describe
    from nhalf.base.native_files import executable

    described = describe([str(executable("probe-model"))])["patterns"]
    return {
        pattern["name"]: tuple(
            Algorithm(
                each["name"],
                each.get("what", ""),
                each.get("source", ""),
                parse(each["cost"]) if each.get("cost") else None,
            )
            for each in pattern["algorithms"]
        )
        for pattern in described
        if pattern.get("algorithms") and WORK_AXIS not in {axis["name"] for axis in pattern["axes"]}
    }


def cost_bytes(operation: str, ranks: Any, size_bytes: Any) -> Any:
    """The n of a cost from the size of a pattern, numbers or arrays.

    It is the same, but for reduce-scatter, whose size is that of the vector, and n one block of it.
    """
    return size_bytes / ranks if operation == "reduce-scatter" else size_bytes
