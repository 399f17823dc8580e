"""Which processes of a command are ranks of the same MPI program.

A command may start several, each with ranks from 0, and some ranks may not be traced. Nobody may
ask the others by a message. So each process writes down what its launcher tells all ranks of a
launch, and what that leaves open follows from ranks, sizes and times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from nhalf.measure.traced.layout import ProcessFile

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
