# SPDX-License-Identifier: Apache-2.0
"""The house vocabulary: words that read as non-native in pages and in what the program says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from style_source import Complaint, Source

PLAIN = {
    r"\bfor those who\b": "a noun",
    r"\bwithout a word from you\b": "by default",
    r"\bgives? back\b": "returns",
    r"\bgoes before\b": "takes precedence over",
    r"\bwhat is not \w+ is\b": "a noun",
}
"""Habits by their expression, and what to write instead."""
HABITS = {
    r"\b(None|NaN|null|'') where (it|there|they|none|nothing|not)\b": "if",
    r"\bRaises \w+ (where|when)\b": "Raises ... if",
    r"\bso many\b": "this many, or the number of",
    r"\bbeyond doubt\b": "significantly",
    r"(?<!the )\b(in|out)side of\b": "inside, outside",
    r"(?<!there )\b(is|was) no (number|size|time|name|rate|file)\b(?! of)": "is not a ...",
    r"\b(a|an) [\w-]+ of (its|their) own\b": "its own, before the noun",
    r"\bthe middle (over|pair|of all)\b": "the median",
    r"\bheed(s|ed)?\b": "apply, honour",
    r"\bmend(s|ed)?\b": "fix",
    r"\bnought\b": "zero",
    r"\bin silence\b": "silently",
}
"""Those of comments, of docstrings and of what is printed."""
READ = ("docs/", "packaging/", "src/nhalf/cli/", "README.md", "CONTRIBUTING.md")
CODE = ("src/nhalf/", "tools/", "tests/nhalf/", *READ)
NOT_PROSE = (".json", ".svg", ".js", ".txt")


def plain_words(source: Source) -> Iterator[Complaint]:
    """Pages, comments and what the program says have the field's own words."""
    habits = HABITS if source.path.startswith(CODE) else {}
    if source.path.startswith(READ):
        habits = {**PLAIN, **HABITS}
    if source.path.endswith((*NOT_PROSE, "tools/style_prose.py")):
        return
    for number, line in enumerate(source.lines, 1):
        for habit, better in habits.items():
            if found := re.search(habit, line, re.IGNORECASE):
                yield source.complain(number, "word", f"{found[0]!r}: write {better}")
