"""The algorithms of collective operations, as the native part describes them."""

import functools
from dataclasses import dataclass
from typing import Any

from nhalf.models.expression import Expression, parse

WORK_AXIS = "grain"
"""Axis of patterns that time an operation after stretches of work, not the operation itself."""


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of an operation: its name, description, source and cost.

    `cost` is None if it is not composed of measured parts.
    """

    name: str
    description: str
    source: str
    cost: Expression | None


@functools.cache
def algorithms() -> dict[str, tuple[Algorithm, ...]]:
    """The algorithms by operation; raises MissingError if the native part is not built."""
    from nhalf.base.native_files import describe, executable

    patterns = describe([str(executable("probe-model"))])["patterns"]
    return {
        pattern["name"]: tuple(
            Algorithm(
                algorithm["name"],
                algorithm.get("what", ""),
                algorithm.get("source", ""),
                parse(algorithm["cost"]) if algorithm.get("cost") else None,
            )
            for algorithm in pattern["algorithms"]
        )
        for pattern in patterns
        if pattern.get("algorithms") and WORK_AXIS not in {axis["name"] for axis in pattern["axes"]}
    }


def cost_bytes(operation: str, ranks: Any, size_bytes: Any) -> Any:
    """The n of a cost from the size of a pattern, numbers or arrays.

    Both are equal, except for reduce-scatter, whose size is that of the vector, and n one block.
    """
    return size_bytes / ranks if operation == "reduce-scatter" else size_bytes
