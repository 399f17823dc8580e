"""Open MPI's file of rules for coll/han, which divides collectives between nodes and within them.

    N collectives, each a name and a number of levels,
        each the level's number, and a number of sizes,
            each a size and a number of message sizes,
                each: message size, component, for han at the top level '@' and its algorithm

The levels are the ranks of a node (0), one rank of every node (1) and the whole communicator (2);
sizes are numbers of ranks on that level. The last size that is not above the actual one applies,
and so does the last message size. The first size has to be 1 and the first message size 0, or the
library drops the whole file, with one line on standard error. Message sizes are those of a message,
a vector or one block. '#' begins a comment; variables that belong to the file are comments, too.

Facts: ompi/mca/coll/han/coll_han_dynamic_file.c and .h of Open MPI 5.0, and its behaviour.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nhalf.mpi.decision_table import Steps
from nhalf.mpi.tuner import rejected
from nhalf.mpi.tuning_files.openmpi_rules import Words

INTRA_NODE, INTER_NODE, GLOBAL = "intra_node", "inter_node", "global_communicator"
LEVELS = (INTRA_NODE, INTER_NODE, GLOBAL)
HAN = "han"
NEEDS = "# needs "
"""The beginning of a comment with a variable that belongs to the file."""

Blocks = list[tuple[int, Steps]]
"""The sizes of a level from which steps apply."""


@dataclass(frozen=True)
class HanFile:
    """The rules: blocks by collective and level, and the variables that belong to them."""

    blocks: Mapping[str, Mapping[str, Blocks]]
    variables: Mapping[str, str] = field(default_factory=dict)


def han_text(file: HanFile) -> str:
    """The text of the file."""
    lines = [f"{NEEDS}{name}={value}" for name, value in sorted(file.variables.items())]
    lines.append(f"{len(file.blocks)} # collectives")
    for call, levels in file.blocks.items():
        lines += [call, f"{len(levels)} # levels"]
        for level, blocks in levels.items():
            lines.append(f"{LEVELS.index(level)} {len(blocks)} # {level}, number of sizes")
            for size, steps in blocks:
                lines.append(f"{max(size, 1)} {len(steps)} # from this many ranks on")
                lines += [f"{begin_bytes} {words}" for begin_bytes, words in steps]
    return "\n".join(lines) + "\n"


def read_han(path: Path, text: str, components: Sequence[str]) -> HanFile:
    """The rules in a file, whose components have to be those that the library knows.

    Raises FailedError naming the line if the library would drop the file, or would interpret it
    differently from its text.
    """
    words = _Words(path, list(_words(text)))
    blocks: dict[str, dict[str, Blocks]] = {}
    for _ in range(words.number("the number of collectives", 1)):
        call = words.next("the name of a collective")
        if call in blocks or not re.fullmatch(r"[a-z_]+", call):
            why = "comes twice" if call in blocks else "is not the name of a collective"
            raise rejected(path, words.line, f"{call!r} {why}")
        levels = blocks[call] = {}
        for _ in range(words.number("the number of levels", 1)):
            number = words.number("a level")
            if number >= len(LEVELS) or LEVELS[number] in levels:
                raise rejected(path, words.line, f"level {number} comes twice, or is not 0 to 2")
            level = LEVELS[number]
            levels[level] = list(_blocks(words, level, components))
    if words.remaining:
        line = words.remaining[0][0]
        raise rejected(path, line, "more follows than the counts before it announce")
    return HanFile(blocks, _variables(text))


class _Words(Words):
    """Words among which numbers are."""

    def number(self, description: str, least: int = 0) -> int:
        """Read a number."""
        word = self.next(description)
        if not re.fullmatch(r"0|[1-9][0-9]{0,18}", word) or int(word) < least:
            raise rejected(self.path, self.line, f"{word!r} cannot be {description}")
        return int(word)


def _words(text: str) -> Iterator[tuple[int, str]]:
    for line, whole in enumerate(text.splitlines(), 1):
        for word in whole.partition("#")[0].split():
            yield line, word


def _variables(text: str) -> dict[str, str]:
    lines = [line.removeprefix(NEEDS) for line in text.splitlines() if line.startswith(NEEDS)]
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def _blocks(words: _Words, level: str, components: Sequence[str]) -> Iterator[tuple[int, Steps]]:
    """Yield every size of a level with its steps."""
    before = 0
    for place in range(words.number("the number of sizes", 1)):
        size = words.number("a size of the level", 1)
        if place == 0 and size > 1:
            raise rejected(words.path, words.line, f"the first size is {size}, not 1")
        if size <= before:
            raise rejected(words.path, words.line, "sizes do not ascend")
        before = size
        yield size, list(_steps(words, level, components))


def _steps(words: _Words, level: str, components: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield every message size of a block with its component and algorithm."""
    before = -1
    for place in range(words.number("the number of message sizes", 1)):
        size_bytes = words.number("a message size")
        if place == 0 and size_bytes > 0:
            raise rejected(words.path, words.line, f"the first message size is {size_bytes}, not 0")
        if size_bytes <= before:
            raise rejected(words.path, words.line, "message sizes do not ascend")
        before = size_bytes
        component = words.next("a component")
        if component not in components:
            raise rejected(words.path, words.line, f"the library knows no component {component!r}")
        if component == HAN and level != GLOBAL:
            raise rejected(words.path, words.line, "han is for the whole communicator alone")
        if words.remaining and words.remaining[0][1].startswith("@"):
            component = f"{component} {words.next('an algorithm')}"
            if not component.startswith(f"{HAN} "):
                raise rejected(words.path, words.line, f"{component!r}: only han has algorithms")
        yield size_bytes, component
