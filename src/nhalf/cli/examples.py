"""Examples in help texts: the last paragraph of a docstring, if it consists of commands."""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

EXAMPLE = re.compile(r"nhalf |env \$\(nhalf ")


def split_examples(text: str) -> tuple[str, tuple[str, ...]]:
    """Split a docstring into its description and the commands of its last paragraph."""
    description, _, last_paragraph = text.rstrip().rpartition("\n\n")
    lines = tuple(last_paragraph.splitlines())
    is_examples = bool(description) and all(EXAMPLE.match(line) for line in lines)
    return (description, lines) if is_examples else (text, ())


def write_examples(formatter: click.HelpFormatter, examples: Iterable[str]) -> None:
    """Write the section of examples of a help text, one line each, never wrapped."""
    with formatter.section("Examples"):
        for line in examples:
            formatter.write(f"{'':{formatter.current_indent}}{line}\n")
