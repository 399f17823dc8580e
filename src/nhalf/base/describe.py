"""Descriptions of nhalf's own programs: the only place that runs and checks `--describe`."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from nhalf.base.errors import MissingError
from nhalf.base.processes import run

TIMEOUT_S = 30.0
REMEDY = "nhalf doctor shows what is wrong and how to fix it"


def describe(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The description that a program prints: one line with a JSON object that has its patterns.

    `environment` is added to the current one. Each program is run once per process. Raises
    MissingError, with the program's own message, if it fails or prints no description.
    """
    description, reason = _description(tuple(command), tuple(sorted((environment or {}).items())))
    if reason:
        raise MissingError(reason, REMEDY)
    return description


def why_not_described(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Why a program does not describe itself, '' if it does."""
    return _description(tuple(command), tuple(sorted((environment or {}).items())))[1]


@functools.cache
def _description(
    command: tuple[str, ...], variables: tuple[tuple[str, str], ...]
) -> tuple[dict[str, Any], str]:
    """The description of a program, and the reason if there is none, else ''."""
    outcome = run([*command, "--describe"], TIMEOUT_S, dict(variables))
    name = Path(command[0]).name
    if not outcome.succeeded:
        return {}, f"{name} --describe: {outcome.reason}"
    for line in outcome.stdout.splitlines():
        with suppress(ValueError):
            description = json.loads(line)
            if isinstance(description, dict) and "patterns" in description:
                return description, ""
    return {}, f"{name} --describe does not answer with a description"
