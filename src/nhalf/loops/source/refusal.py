"""Refusals of C that the reader cannot decide, with the line and the reason."""

import re
from typing import Any

from nhalf.base.errors import InputError


class RefusedSource(InputError):
    """A loop or a file that cannot be read; `line` is 0 if no line is to blame."""

    def __init__(self, reason: str, line: int = 0, remedy: str = "") -> None:
        super().__init__(reason, remedy)
        self.line = line


def refused(node: Any, reason: str, remedy: str = "") -> RefusedSource:
    """A refusal at a node of the syntax tree."""
    return RefusedSource(reason, line_of(node), remedy)


def line_of(node: Any) -> int:
    """The line of a node, or of the first node below it that has one; 0 for none."""
    coordinates = getattr(node, "coord", None)
    if coordinates is not None and coordinates.line:
        return int(coordinates.line)
    return next((line for _, child in node.children() if (line := line_of(child))), 0)


def parser_refusal(message: str) -> RefusedSource:
    """A refusal with the error of the parser, which begins with its position."""
    match = re.match(r"(?:.*?:)?(\d+)(?::\d+)?: (.*)", message)
    complaint = re.sub(
        r"^before: (.*)", r"a syntax error before `\1`", match[2] if match else message
    )
    if match is None:
        # Without a place it names the file.
        complaint = complaint.rpartition(": ")[2].lower()
    return RefusedSource(f"this is not valid C: {complaint}", int(match[1]) if match else 0)
