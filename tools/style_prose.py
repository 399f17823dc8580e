"""The house vocabulary: words that read as non-native, and docstrings that do not stand alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from style_source import CPP, PYTHON, Complaint, Source

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
LEANING = ("The same", "Those", "Of ", "As ")
"""Beginnings of descriptions that need what stands above them to be understood."""
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


def docstrings_stand_alone(source: Source) -> Iterator[Complaint]:
    """A description of the program can be read without the one above it."""
    for line, text in _descriptions(source):
        if text.startswith(LEANING):
            yield source.complain(line, "leaning", f"{text.split(chr(10))[0]!r}: name what it is")


def _descriptions(source: Source) -> Iterator[tuple[int, str]]:
    """Line and text of the docstrings of src/, below constants too, and of `///` in native/."""
    if source.suffix in PYTHON and source.path.startswith("src/"):
        values = (node.value for node in source.nodes if isinstance(node, ast.Expr))
        for value in values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.lineno, value.value.lstrip()
    elif source.suffix in CPP and source.path.startswith(("native/", "apps/")):
        before = ""
        for number, line in enumerate(map(str.lstrip, source.lines), 1):
            if line.startswith("/// ") and not before.startswith("///"):
                yield number, line.removeprefix("/// ")
            before = line
