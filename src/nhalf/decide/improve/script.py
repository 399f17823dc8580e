# SPDX-License-Identifier: Apache-2.0
"""A script that starts a program with what was proven to help."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from nhalf.mpi.launch_settings import LaunchCommand


def script(
    plain: LaunchCommand,
    improved: LaunchCommand,
    remarks: Sequence[str],
    settings: Iterable[str] = (),
) -> str:
    """The text of a shell script: variables that differ, then the command.

    The remarks come first, as comments. Arguments of the script follow those of the program.
    `settings` are variables that are set even where they do not differ, since the proof holds
    with them.
    """
    lines = ["#!/bin/sh", *(f"# {' '.join(remark.split())}" for remark in remarks)]
    lines += variable_lines(plain, improved, settings)
    return "\n".join([*lines, f'exec {shlex.join(improved.words)} "$@"', ""])


def variable_lines(
    plain: LaunchCommand, improved: LaunchCommand, settings: Iterable[str] = ()
) -> list[str]:
    """The lines of a shell that make the environment of one launch that of the other."""
    before, after = plain.environment, improved.environment
    gone = [f"unset {name}" for name in sorted(set(before) - set(after))]
    changed = {name for name in after if before.get(name) != after[name]}
    exported = sorted(changed | (set(settings) & set(after)))
    return gone + [f"export {name}={shlex.quote(after[name])}" for name in exported]
