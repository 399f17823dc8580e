# SPDX-License-Identifier: Apache-2.0
"""The house vocabulary: words that read as non-native in pages and in what the program says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from style_source import Complaint, Source

PLAIN = {
    r"\bheed(s|ed)?\b": "apply, honour",
    r"\bmend(s|ed)?\b": "fix",
    r"\bnought\b": "zero",
    r"\bin silence\b": "silently",
    r"\binside of\b|\boutside of\b": "inside, outside",
    r"\bfor those who\b": "a noun",
    r"\bwithout a word from you\b": "by default",
    r"\bgives? back\b": "returns",
    r"\bgoes before\b": "takes precedence over",
    r"\bwhat is not \w+ is\b": "a noun",
}
"""Habits by their expression, and what to write instead."""
READ = ("docs/", "packaging/", "src/nhalf/cli/", "README.md", "CONTRIBUTING.md")
NOT_PROSE = (".json", ".svg", ".js", ".txt")


def plain_words(source: Source) -> Iterator[Complaint]:
    """Pages and what the command line says have the field's own words."""
    if source.path.startswith(READ) and not source.path.endswith(NOT_PROSE):
        for number, line in enumerate(source.lines, 1):
            for habit, better in PLAIN.items():
                if found := re.search(habit, line, re.IGNORECASE):
                    yield source.complain(number, "word", f"{found[0]!r}: write {better}")
