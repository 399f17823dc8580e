"""Which processes of a command are ranks of the same MPI program.

A command may start several, each with ranks from 0, and some ranks may not be traced. Nobody may
ask the others by a message. So each process writes down what its launcher tells all ranks of a
launch, and what that leaves open follows from ranks, sizes and times.

Communicators of different ranks are matched without messages, too. Making one is collective, so its
members make those of the same group in the same order: the third with a group on one rank is the
third on all.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import polars as pl

from nhalf.measure.traced.layout import CommunicatorNote, ProcessFile
from nhalf.measure.traced.tables import COMMUNICATORS

World = list[ProcessFile]
_Key = tuple[str, int, str]


def worlds(files: Iterable[ProcessFile]) -> list[World]:
    """Return the ranks of each program, by rank; the program that began first is the first."""
    alike: dict[_Key, World] = defaultdict(list)
    for file in files:
        alike[_launch(file), file.size, file.library].append(file)
    apart = [world for key, group in alike.items() for world in _apart(group, key[0] != "")]
    joined = _joined(sorted(apart, key=_began_ns))
    return [sorted(world, key=lambda file: file.rank) for world in joined]


def _launch(file: ProcessFile) -> str:
    return file.launch or (f"world {file.world}" if file.world else "")


def _began_ns(world: World) -> int:
    return min(file.ready_ns or _made_ns(file) for file in world)


def _made_ns(file: ProcessFile) -> int:
    return min((note.made_ns for note in file.communicators[:1]), default=0)


def _apart(files: World, is_one_launch: bool) -> list[World]:
    """Divide processes, none of which is known to be of another launch, into programs."""
    if is_one_launch and _have_own_ranks(files):
        return [files]
    worlds: list[World] = []
    for file in sorted(files, key=lambda file: (file.ready_ns, file.rank)):
        fitting = [world for world in worlds if _fits(file, world)]
        if not fitting:
            worlds.append([file])
            continue
        near = max(fitting, key=lambda world: (_kin(file, world), -_distance_ns(file, world)))
        near.append(file)
    return worlds


def _have_own_ranks(files: Sequence[ProcessFile]) -> bool:
    return len({file.rank for file in files}) == len(files)


def _fits(file: ProcessFile, world: World) -> bool:
    """Whether a process may be a rank of a program: no rank leaves MPI_Init before all are in."""
    return all(
        file.rank != member.rank and (file.host != member.host or _overlap(file, member))
        for member in world
    )


def _overlap(file: ProcessFile, member: ProcessFile) -> bool:
    return file.began_ns <= member.ready_ns and member.began_ns <= file.ready_ns


def _kin(file: ProcessFile, world: World) -> bool:
    """Whether a process of a program has the same parent."""
    return file.parent != "" and any(
        (file.host, file.parent) == (member.host, member.parent) for member in world
    )


def _distance_ns(file: ProcessFile, world: World) -> int:
    return min(abs(file.ready_ns - member.ready_ns) for member in world)


def _joined(apart: Iterable[World]) -> list[World]:
    """Join programs that are parts of one: the daemons of other hosts may have other names."""
    worlds: list[World] = []
    for part in apart:
        whole = next((world for world in worlds if _complete_each_other(part, world)), None)
        if whole is None:
            worlds.append(list(part))
        else:
            whole += part
    return worlds


def _complete_each_other(part: World, world: World) -> bool:
    is_alike = (part[0].size, part[0].library, _kind(part[0])) == (
        world[0].size, world[0].library, _kind(world[0]),
    )  # fmt: skip
    hosts = {file.host for file in world}
    return (
        is_alike
        and _kind(part[0]) in ("", "hydra", "process")
        and _have_own_ranks([*part, *world])
        and not any(file.host in hosts for file in part)
    )


def _kind(file: ProcessFile) -> str:
    return file.launch.partition(" ")[0]


WORLD = "MPI_COMM_WORLD"
LOST = 0xFFFF
"""Number of communicators for which a process had no number left."""

_Membership = tuple[tuple[int, ...], tuple[int, ...], int]


class Members:
    """The numbers of communicators, and their members."""

    def __init__(self, processes: Sequence[ProcessFile]) -> None:
        keys: dict[tuple[int, int], _Membership] = {}
        first_ns: dict[_Membership, int] = {}
        names: dict[_Membership, str] = {}
        for process in processes:
            for key, note in _keyed(process):
                keys[process.rank, note.communicator] = key
                made_ns = 0 if note.communicator == 0 else note.made_ns
                first_ns[key] = min(made_ns, first_ns.get(key, note.made_ns))
                names[key] = note.name or names.get(key, WORLD if made_ns == 0 else "")
        self._order = sorted(first_ns, key=lambda key: (first_ns[key], key))
        numbers = {key: number for number, key in enumerate(self._order)}
        self._names = names
        self._numbers = {local: numbers[key] for local, key in keys.items()}

    def number(self, rank: int, local: int) -> int:
        """Return the number of a communicator from a rank's local number."""
        return self._numbers.get((rank, local), LOST)

    def table(self) -> pl.DataFrame:
        """Return a table with one row for each member of each communicator."""
        rows = [
            (number, self._names[key], rank, world_rank)
            for number, key in enumerate(self._order)
            for rank, world_rank in enumerate((*key[0], *key[1]))
        ]
        return pl.DataFrame(rows, COMMUNICATORS, orient="row")


def _keyed(process: ProcessFile) -> list[tuple[_Membership, CommunicatorNote]]:
    """Return each communicator with a key that is equal on all its ranks."""
    made_before: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = defaultdict(int)
    keyed_notes = []
    for note in process.communicators:
        group_pair = sorted([note.members, note.others]) if note.others else [note.members, ()]
        groups = (tuple(group_pair[0]), tuple(group_pair[1]))
        keyed_notes.append(((*groups, made_before[groups]), note))
        made_before[groups] += 1
    return keyed_notes
