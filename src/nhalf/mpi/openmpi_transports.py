"""Which transports of Open MPI (btl) can carry a launch's messages, by its parameters and hosts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

PREFIX = "OMPI_MCA_"
SHARED_MEMORY = ("sm", "vader")
"""The transports within a host, by their names in versions 5 and 4."""
_LIMIT = re.compile(r"btl_(\w+?)_eager_limit")


def parameters_of(words: Sequence[str], variables: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a launch: `--mca NAME VALUE` takes precedence over variables."""
    parameters = {
        name.removeprefix(PREFIX): value
        for name, value in variables.items()
        if name.startswith(PREFIX)
    }
    for place, word in enumerate(words[:-2]):
        if word in ("--mca", "-mca", "--gmca", "-gmca"):
            parameters[words[place + 1]] = words[place + 2]
    return parameters


def limits_in_use(
    limits: Mapping[str, int], parameters: Mapping[str, str], *, is_on_one_host: bool
) -> dict[str, int]:
    """The eager limits of transports that can carry messages.

    Without a choice by `btl` the shared memory of a host takes precedence within it. Where another
    layer than ob1 sends (`pml`), no limit of a btl counts.
    """
    if parameters.get("pml", "ob1") != "ob1":
        return {}
    names = [match[1] for limit in limits if (match := _LIMIT.fullmatch(limit))]
    allowed = _allowed(names, parameters.get("btl", ""))
    shared = [name for name in allowed if name in SHARED_MEMORY]
    in_use = shared if shared and is_on_one_host else allowed
    return {
        limit: limit_bytes
        for limit, limit_bytes in limits.items()
        if not (match := _LIMIT.fullmatch(limit)) or match[1] in in_use
    }


def _allowed(names: Iterable[str], chosen: str) -> list[str]:
    """The transports that `btl` allows: those of a list, or all but those behind a ^."""
    words = {word.strip() for word in chosen.removeprefix("^").split(",") if word.strip()}
    words |= set(SHARED_MEMORY) if words & set(SHARED_MEMORY) else set()
    if not words:
        return list(names)
    is_excluded = chosen.startswith("^")
    return [name for name in names if (name in words) != is_excluded]
