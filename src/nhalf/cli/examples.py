# SPDX-License-Identifier: Apache-2.0
"""The examples of a help: the last paragraph of a docstring, if it is of commands."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

EXAMPLE = re.compile(r"nhalf |env \$\(nhalf ")


def parted(text: str) -> tuple[str, tuple[str, ...]]:
    """What a docstring says, and the commands in its last paragraph, if it is of commands."""
    said, _, last = text.rstrip().rpartition("\n\n")
    lines = tuple(last.splitlines())
    is_examples = bool(said) and all(EXAMPLE.match(line) for line in lines)
    return (said, lines) if is_examples else (text, ())


def write_examples(formatter: click.HelpFormatter, examples: Iterable[str]) -> None:
    """The section of a help that has them, a line each, never wrapped."""
    with formatter.section("Examples"):
        for line in examples:
            formatter.write(f"{'':{formatter.current_indent}}{line}\n")
