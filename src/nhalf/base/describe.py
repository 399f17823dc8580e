# SPDX-License-Identifier: Apache-2.0
"""What a program of ours says about itself: `--describe`, run and judged in this place alone."""

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
REMEDY = "nhalf doctor says what is here and how to mend it"


def describe(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The description that a program prints, one JSON object on a line that has its patterns.

    `environment` is added to the present one. A program is asked once in a process. Raises
    MissingError, with the program's own words, where it does not run, or prints no description.
    """
    description, reason = _asked(tuple(command), tuple(sorted((environment or {}).items())))
    if reason:
        raise MissingError(reason, REMEDY)
    return description


def why_not_described(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Why a program does not describe itself, '' where it does."""
    return _asked(tuple(command), tuple(sorted((environment or {}).items())))[1]


@functools.cache
def _asked(
    command: tuple[str, ...], variables: tuple[tuple[str, str], ...]
) -> tuple[dict[str, Any], str]:
    """The description of a program, and why there is none, '' where there is."""
    outcome = run([*command, "--describe"], TIMEOUT_S, dict(variables))
    name = Path(command[0]).name
    if not outcome.succeeded:
        return {}, f"{name} --describe: {outcome.reason}"
    for line in outcome.stdout.splitlines():
        with suppress(ValueError):
            found = json.loads(line)
            if isinstance(found, dict) and "patterns" in found:
                return found, ""
    return {}, f"{name} --describe does not answer with a description"
