"""A number of a study in words, such as 'bcast/binomial 64K on 16 ranks off-node'."""

import re
from typing import Any, get_args

from nhalf.base.errors import InputError
from nhalf.studies.form import Figure

FIGURES = frozenset(name for literal in get_args(Figure) for name in get_args(literal))
MEMBERS = {
    **dict.fromkeys(("on-node", "off-node"), "placement"),
    **dict.fromkeys(("first", "middle", "last"), "phase"),
    **dict.fromkeys(FIGURES, "figure"),
    "cyclic": "mapping",
}
"""Words that are the value of a member."""
BEFORE = {"by": "transport", "of": "machine", "its": "extra"}
"""Words before the value of a member."""
_SIZE = re.compile(r"\d+[KMG]?")
_RANKS = re.compile(r"\b(?:on\s+)?(\d+)\s+ranks?\b")
REMEDY = (
    "write pattern/algorithm, a size, on N ranks, on-node or off-node, axis=value, by TRANSPORT, "
    "of MACHINE, its RESULT or a figure; or the members in braces"
)


def members(text: str) -> dict[str, Any]:
    """The members of a number from its words, the pattern first, or of a node from its name.

    'traffic 10K on 16 ranks to=cube rate' has the pattern traffic, bytes, ranks, an axis and a
    figure; 'node l1-size' is of a node. Raises InputError for a word that means nothing.
    """
    ranks = _RANKS.search(text)
    pattern, *words = _RANKS.sub("", text).split() or [""]
    if pattern == "node":
        return {"node": " ".join(words)}
    name, _, algorithm = pattern.partition("/")
    number: dict[str, Any] = {"pattern": name} | ({"algorithm": algorithm} if algorithm else {})
    number |= {"ranks": int(ranks[1])} if ranks else {}
    further = iter(words)
    for word in further:
        axis, equals, value = word.partition("=")
        if equals:
            number.setdefault("axes", {})[axis] = int(value) if value.isdecimal() else value
        elif word in MEMBERS:
            number[MEMBERS[word]] = word
        elif word in BEFORE:
            number[BEFORE[word]] = next(further, "")
        elif word == "predicted":
            number[word] = True
        elif _SIZE.fullmatch(word):
            number["bytes"] = int(word) if word.isdecimal() else word
        else:
            raise InputError(f"unknown word '{word}' in the number '{text}'", REMEDY)
    return number
