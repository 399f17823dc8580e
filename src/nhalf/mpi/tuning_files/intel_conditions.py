"""Intel MPI's conditions, `I_MPI_ADJUST_*="id:l-m@p-q;…"`, as the library applies them.

Its reference promises presets by ranges of sizes and ranks. Version 2021.19 does something else, as
every value shows that is tried in virtual time:

- It applies either sizes or ranks. As soon as a part names ranks, sizes count for nothing, and of
  parts for the same ranks the last one holds.
- It reads the upper ends only: a part begins where the one before it ends, and the last one has no
  end. `4:1024-2047` alone is preset 4 for everything.
- 0 is the library's basic choice, which is not always what it chooses without the variable.

Written are therefore parts that begin at 0 and leave nothing out, for which all of that is the
same, and other values are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from nhalf.mpi.decision_table import NATIVE, Rule, Steps, steps_of

BASIC = "0"
BYTES_MAX = 2**31 - 1
RANKS_MAX = 2**31 - 1
RANKS_LEAST = 2
"""The smallest number of ranks that have something to choose."""
PART = re.compile(r"(\d+)(?::(\d+)-(\d+)(?:@(\d+)-(\d+))?)?")


def held(rules: Sequence[Rule], operation: str) -> list[Rule]:
    """The rules of an operation as one variable can hold them: by ranks, or by sizes for all ranks.

    Where they need both, those of the most ranks are kept.
    """
    own = _rules_of(rules, operation)
    if not own or is_by_ranks(own, operation):
        return own
    most = max(rule.from_ranks for rule in own)
    of_most = [rule for rule in own if rule.from_ranks <= most <= rule.to_ranks]
    return [replace(rule, from_ranks=0, to_ranks=math.inf) for rule in of_most]


def is_by_ranks(rules: Sequence[Rule], operation: str) -> bool:
    """Whether no rule tells sizes from each other, while some tell numbers of ranks."""
    by_ranks = [(begin, steps_of(rules, operation, begin)) for begin in _begins(rules)]
    return len(by_ranks) > 1 and all(len(steps) == 1 for _, steps in by_ranks)


def value_of(rules: Sequence[Rule], operation: str) -> str:
    """The value of a variable, '' if there is no rule of the operation.

    Of rules that `held` would not keep those for the ranks of the first one are written.
    """
    own = _rules_of(rules, operation)
    if not own:
        return ""
    if not is_by_ranks(own, operation):
        return _by_size(steps_of(own, operation, own[0].from_ranks))
    begins = _begins(own)
    ends = [*(begin - 1 for begin in begins[1:]), RANKS_MAX]
    chosen = [_preset(steps_of(own, operation, begin)[0][1]) for begin in begins]
    ranges = zip(chosen, begins, ends, strict=True)
    return ";".join(f"{preset}:0-{BYTES_MAX}@{first}-{last}" for preset, first, last in ranges)


def _rules_of(rules: Sequence[Rule], operation: str) -> list[Rule]:
    """The rules of an operation; those from the smallest group on begin at 0."""
    own = [rule for rule in rules if rule.operation == operation]
    return [replace(rule, from_ranks=0) if rule.from_ranks <= RANKS_LEAST else rule for rule in own]


def _begins(rules: Sequence[Rule]) -> list[int]:
    """The numbers of ranks from which other rules hold, 0 first."""
    begins = {0, *(rule.from_ranks for rule in rules)}
    begins |= {int(rule.to_ranks) + 1 for rule in rules if math.isfinite(rule.to_ranks)}
    return sorted(begins)


def _by_size(steps: Steps) -> str:
    ends = [begin - 1 for begin, _ in steps[1:]]
    parts = [
        f"{_preset(algorithm)}:{begin}-{end}"
        for (begin, algorithm), end in zip(steps[:-1], ends, strict=True)
    ]
    return ";".join([*parts, _preset(steps[-1][1])])


def _preset(algorithm: str) -> str:
    return BASIC if algorithm == NATIVE else algorithm


def misread(value: str) -> str:
    """Why the library would read a value otherwise than it is written, '' if it would not."""
    matches = [PART.fullmatch(part) for part in value.split(";")]
    for part, match in zip(value.split(";"), matches, strict=True):
        if match is None:
            return f"{part!r} is not written as id:l-m or id:l-m@p-q"
    parts = [match.groups() for match in matches if match]
    if any(ranks is not None for *_, ranks in parts):
        if any((low, high) != ("0", str(BYTES_MAX)) for _, low, high, *_ in parts):
            return f"beside ranks no sizes count: write 0-{BYTES_MAX} for them in every part"
        return _gap([(first, last) for *_, first, last in parts], "ranks", RANKS_MAX)
    return _gap([(low, high) for _, low, high, *_ in parts], "sizes", BYTES_MAX)


def _gap(ranges: Sequence[tuple[str | None, str | None]], quantity: str, most: int) -> str:
    """Where ranges do not follow each other from 0 to the end; a part without one is the rest."""
    begin = 0
    for place, (first, last) in enumerate(ranges):
        is_last = place + 1 == len(ranges)
        if first is None or last is None:
            return "" if is_last else f"a part without {quantity} is the last one for the library"
        if int(first) > int(last):
            return f"the range {first}-{last} is empty"
        if int(first) != begin:
            return f"{quantity} from {begin} on are of the part for {first}-{last}: begin it there"
        begin = int(last) + 1
    return (
        ""
        if begin > most
        else f"the last part has no end for the library: leave out its {quantity}"
    )


def rules_in(value: str, operation: str) -> list[Rule]:
    """The rules of a value that is not misread; the basic choice is none."""
    rules: list[Rule] = []
    for part in value.split(";"):
        match = PART.fullmatch(part)
        assert match is not None
        preset, low, high, first, last = match.groups()
        begin = rules[-1].to_bytes + 1 if rules and low is None else int(low or 0)
        to_bytes = math.inf if high is None or int(high) >= BYTES_MAX else int(high)
        to_ranks = math.inf if last is None or int(last) >= RANKS_MAX else int(last)
        rules.append(
            Rule(operation, int(first or 0), to_ranks, int(begin), to_bytes, str(int(preset)))
        )
    return [rule for rule in rules if rule.algorithm != BASIC]
