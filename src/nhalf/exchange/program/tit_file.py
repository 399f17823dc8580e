"""Files of SimGrid's time-independent traces: an index of one file per rank, or one for all.

A line is the rank, the name of an action and its arguments. Names of several versions of SimGrid
differ in their case, and the rank may have a `p` before it.

The bytes of actions of SimGrid's time-independent traces, by counts and numbers of types.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.units import number_in

INDEX = "index.txt"
NO_EFFECT = ("init", "finalize", "comm_size", "comm_split", "comm_dup", "location")
MESSAGES = ("send", "isend", "recv", "irecv")
COMPLETIONS = ("wait", "test")
COLLECTIVES = {
    "barrier": "MPI_Barrier", "bcast": "MPI_Bcast", "reduce": "MPI_Reduce",
    "allreduce": "MPI_Allreduce", "alltoall": "MPI_Alltoall", "alltoallv": "MPI_Alltoallv",
    "gather": "MPI_Gather", "gatherv": "MPI_Gatherv", "allgather": "MPI_Allgather",
    "allgatherv": "MPI_Allgatherv", "scatter": "MPI_Scatter", "scatterv": "MPI_Scatterv",
    "reducescatter": "MPI_Reduce_scatter", "scan": "MPI_Scan", "exscan": "MPI_Exscan",
}  # fmt: skip
"""The call of each collective action."""
NAMES = frozenset(
    (*NO_EFFECT, *MESSAGES, *COMPLETIONS, *COLLECTIVES, "waitall", "sendrecv", "compute", "sleep")
)
RANKS_MAX = 1 << 20
_BEGINNING = 1 << 16
_RANK = re.compile(r"(?:p|rank-?)?(\d{1,7})$")


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a rank, its arguments, and the file and line where it stands."""

    name: str
    arguments: tuple[str, ...]
    path: Path
    line: int

    def error(self, reason: str) -> InputError:
        """What is wrong with this action."""
        words = " ".join((self.name, *self.arguments))[:60]
        return InputError(
            f"{self.path}, line {self.line} has {words!r}: {reason}", "write the trace again"
        )


def is_tit(path: Path) -> bool:
    """Whether a path is a time-independent trace: actions, their index, or a folder with it."""
    file = path / INDEX if path.is_dir() else path
    lines = _first_lines(file)
    if lines and _is_action(lines[0]):
        return True
    # Of an index that was moved some files may be missing, which is a separate error.
    files = [member for line in lines[:64] if (member := _named(line, file)) is not None]
    return any(_is_action(line) for member in files[:1] for line in _first_lines(member)[:1])


def read_actions(path: Path) -> list[list[Action]]:
    """The actions of each rank; raises InputError for lines that are none, and missing files."""
    by_rank: dict[int, list[Action]] = {}
    for file in _files(path / INDEX if path.is_dir() else path):
        for rank, action in _actions(file):
            by_rank.setdefault(rank, []).append(action)
    count = max(by_rank, default=-1) + 1
    if not 0 < count <= RANKS_MAX:
        raise InputError(f"{path} holds no action", "name a time-independent trace")
    absent = next((rank for rank in range(count) if rank not in by_rank), None)
    if absent is not None:
        message = f"{path} has actions of rank {count - 1}, and none of rank {absent}"
        raise InputError(message, "name the index, or a file with the actions of all ranks")
    return [by_rank[rank] for rank in range(count)]


def _files(path: Path) -> Iterator[Path]:
    """The files with actions: the file itself, or those that it lists."""
    lines = _lines(path)
    first = next((line for _, line in lines), "")
    if _is_action(first):
        yield path
        return
    for number, line in lines:
        file = _named(line, path)
        if file is None:
            message = f"{path}, line {number} names {line[:200]}, which is not there"
            raise InputError(message, "copy the files of all ranks beside the index")
        yield file


def _actions(path: Path) -> Iterator[tuple[int, Action]]:
    for number, line in _lines(path):
        words = line.split()
        rank = _RANK.match(words[0])
        name = words[1].lower() if len(words) > 1 else ""
        action = Action(name, tuple(words[2:]), path, number)
        if rank is None or name not in NAMES:
            raise InputError(
                f"{path}, line {number} has {line[:60]!r}, which is no known action",
                "known are those of SimGrid's replay, such as: 0 send 1 0 1000",
            )
        yield int(rank[1]), action


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines that are neither empty nor comments, with their numbers."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    lines = ((number, line.strip()) for number, line in enumerate(text.split("\n"), 1))
    return [(number, line) for number, line in lines if line and not line.startswith("#")]


def _first_lines(path: Path) -> list[str]:
    """The first lines that are neither empty nor comments; none of what cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(_BEGINNING).decode("utf-8", errors="replace")
    except OSError:
        return []
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]


def _is_action(line: str) -> bool:
    words = line.split(maxsplit=2)
    return len(words) > 1 and bool(_RANK.match(words[0])) and words[1].lower() in NAMES


def _named(line: str, index: Path) -> Path | None:
    """The file that a line of an index names: as it is, beside the index, or moved there."""
    if len(line) > 4096 or "\0" in line:
        return None
    name = Path(line)
    for file in (index.parent / name, name, index.parent / name.name):
        try:
            if file.is_file() and not file.samefile(index):
                return file
        except OSError:
            continue
    return None


TYPE_BYTES = {
    "0": 8, "1": 4, "2": 1, "3": 2, "4": 8, "5": 4, "6": 1, "7": 8, "8": 1, "9": 1, "10": 2,
    "11": 4, "12": 8, "13": 8, "14": 16, "15": 4, "16": 1, "17": 1, "18": 2, "19": 4, "20": 8,
    "21": 1, "22": 2, "23": 4, "24": 8, "25": 8, "26": 16, "27": 32,
}  # fmt: skip
"""By the number of a type in SimGrid: 0 is MPI_DOUBLE, 1 MPI_INT, 6 MPI_BYTE."""
_TYPED = {
    "bcast": 2, "reduce": 3, "allreduce": 2, "alltoall": 2, "allgather": 2, "gather": 3,
    "scatter": 3, "scan": 2, "exscan": 2,
}  # fmt: skip
"""The place of the type among the arguments."""
_ROOT = {"bcast": 1, "reduce": 2, "gather": 2, "scatter": 2}


def size_bytes(action: Action, count: str, kind: str, default_bytes: int) -> int:
    """The bytes of a number of elements; 0 for a receive of unknown size. Raises InputError."""
    elements = number_in(count)
    if not abs(elements) < 1 << 53:
        raise action.error(f"{count[:20]!r} is no number of elements")
    if kind and kind not in TYPE_BYTES:
        raise action.error(f"the size of type {kind[:20]!r} is not known")
    return round(max(0.0, elements)) * (TYPE_BYTES[kind] if kind else default_bytes)


def input_bytes(
    action: Action, rank: int, ranks: int, default_bytes: int
) -> tuple[int, int | None]:
    """What a rank puts into a collective operation, and the root; raises InputError."""
    name, words = action.name, action.arguments
    root = _root(action, _root_at(name, ranks), ranks) if _root_at(name, ranks) else None
    if name == "barrier":
        return 0, root
    first, last, kind_at = _counts(name, ranks, rank == root, len(words))
    if len(words) < last:
        raise action.error("arguments are missing")
    kind = words[kind_at] if kind_at < len(words) else ""
    moved = sum(size_bytes(action, word, kind, default_bytes) for word in words[first:last])
    to_all = name == "alltoall" or (name == "scatter" and rank == root)
    return moved * ranks if to_all else moved, root


def _root_at(name: str, ranks: int) -> int:
    """The place of the root among the arguments, 0 for operations without one."""
    return ranks + 1 if name in ("gatherv", "scatterv") else _ROOT.get(name, 0)


def _counts(name: str, ranks: int, is_root: bool, words: int) -> tuple[int, int, int]:
    """The places of the first count of what a rank puts in, after the last one, and of its type.

    Where ranks other than the root put in nothing, of what they get.
    """
    if name == "scatter" and not is_root:
        return 1, 2, 4
    if name == "scatterv":
        return (0, ranks, ranks + 2) if is_root else (ranks, ranks + 1, ranks + 3)
    if name == "allgatherv":
        has_type = words in (ranks + 2, 2 * ranks + 2)
        return 0, 1, ranks + 1 if has_type else words
    places = {
        "gatherv": (0, 1, ranks + 2),
        "alltoallv": (1, ranks + 1, 2 * ranks + 2),
        "reducescatter": (0, ranks, ranks + 1),
    }
    return places[name] if name in places else (0, 1, _TYPED[name])


def _root(action: Action, place: int, ranks: int) -> int:
    word = action.arguments[place] if place < len(action.arguments) else "0"
    root = word.removeprefix("p")
    if not root.isdecimal() or len(root) > 7 or int(root) >= ranks:
        raise action.error(f"{word[:20]!r} is no root among {ranks} ranks")
    return int(root)
