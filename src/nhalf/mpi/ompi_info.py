"""What Open MPI's ompi_info prints of parameters: their values, and algorithms to choose from."""

from __future__ import annotations

import functools
import re

from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.mpi import Library

ASK_TIMEOUT_S = 20.0


@functools.cache
def _printed(command: str, environment: tuple[tuple[str, str], ...], framework: str) -> str:
    words = [command, "--parsable", "--level", "9", "--param", framework, "all"]
    outcome = run(words, ASK_TIMEOUT_S, dict(environment))
    if not outcome.succeeded:
        raise MissingError(f"{command} does not tell its parameters: {outcome.reason}")
    return outcome.stdout


def printed(library: Library, framework: str) -> str:
    """The parameters of a framework; raises MissingError if ompi_info is not available."""
    command = library.prefix / "bin" / "ompi_info"
    environment = tuple(sorted(library.environment.items()))
    return _printed(str(command), environment, framework)


def parse_eager_limits(text: str) -> dict[str, int]:
    """Parse the limits of transports between ranks in the output of `ompi_info --parsable`.

    Version 5 calls its transport sm, and lists the name that it had in version 4 as well.
    """
    limit = re.compile(r"^mca:btl:(\w+):param:(btl_\1_eager_limit):value:(\d+)$", re.MULTILINE)
    limits = limit.findall(text)
    former = {"vader"} if any(transport == "sm" for transport, _, _ in limits) else set()
    return {
        name: int(size)
        for transport, name, size in limits
        if transport not in {"self", *former} and int(size)
    }


def parse_parameters(text: str) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """Parse the output of `ompi_info --parsable` into values of parameters by name, and
    numbers of algorithms of coll/tuned by operation and name.
    """
    values: dict[str, str] = {}
    choices: dict[str, dict[str, int]] = {}
    of_algorithm = re.compile(r"coll_tuned_(\w+)_algorithm")
    for line in text.splitlines():
        words = line.split(":")
        if len(words) < 7 or words[:2] != ["mca", "coll"] or words[3] != "param":
            continue
        name = words[4]
        if words[5] == "value":
            values[name] = words[6]
        match = of_algorithm.fullmatch(name)
        if match and words[5:7] == ["enumerator", "value"] and len(words) == 9:
            choices.setdefault(match[1], {})[words[8]] = int(words[7])
    return values, choices
