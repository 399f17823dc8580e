"""All ranks of a program: what each computes and sends, and whether that fits together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pycparser import c_ast

from nhalf.loops.program.computing import InnermostLoops
from nhalf.loops.program.events import COLLECTIVE, SENT, Called, RankEvents
from nhalf.loops.program.execution import ProgramReading, RankExecution
from nhalf.loops.program.structure import Structure
from nhalf.loops.source.preprocessed import HeaderSearch, preprocessed
from nhalf.loops.source.refusal import RefusedSource
from nhalf.loops.source.source import source_of

LINE = "line"


class MpiProgram:
    """A C program whose main calls MPI. `numbers` are those of names, or of lines (line12).

    Raises RefusedSource if it cannot be read, and for names that are not in it.
    """

    def __init__(self, path: Path, search: HeaderSearch, names: Sequence[str]) -> None:
        self.path = path
        self._search, self._names = search, names
        self._read: dict[tuple[str, ...], tuple[c_ast.FileAST, Structure, InnermostLoops]] = {}
        self._tree_of(())
        structure = self._read[()][1]
        declared = set(structure.variables).union(
            *(function.variables for function in structure.functions.values())
        )
        self._macros = [name for name in names if name not in declared and not _is_line(name)]
        for name in self._macros:
            searches = [HeaderSearch(search.folders, (*search.macros, f"{name}={value}"))
                        for value in (1, 2)]  # fmt: skip
            if len({preprocessed(path, macros).text for macros in searches}) == 1:
                raise RefusedSource(f"nothing in it depends on {name}", 0, "name a variable of it")

    def ranks(self, numbers: Mapping[str, int], ranks: int) -> list[RankEvents]:
        """What each rank does; raises RefusedSource for what is not understood."""
        macros = tuple(f"{name}={numbers[name]}" for name in self._macros)
        tree, structure, loops = self._tree_of(macros)
        variables = {name: value for name, value in numbers.items() if not _is_line(name)}
        lines = {
            int(name.removeprefix(LINE)): value for name, value in numbers.items() if _is_line(name)
        }
        reading = ProgramReading(structure, loops, variables, lines, ranks)
        try:
            events = [RankExecution(reading, rank).run(tree) for rank in range(ranks)]
        except RecursionError:
            raise RefusedSource("it is nested too deeply to be read") from None
        _check(events)
        return events

    def _tree_of(self, macros: tuple[str, ...]) -> tuple[c_ast.FileAST, Structure, InnermostLoops]:
        if macros not in self._read:
            search = HeaderSearch(self._search.folders, (*self._search.macros, *macros))
            source = source_of(self.path, search)
            if source.refusals:
                raise source.refusals[0]
            structure = Structure.of(source.tree)
            if "main" not in structure.functions:
                raise RefusedSource("there is no function main in it", 0, "name a whole program")
            self._read[macros] = source.tree, structure, InnermostLoops(structure)
        return self._read[macros]


def _is_line(name: str) -> bool:
    return name.startswith(LINE) and name.removeprefix(LINE).isdecimal()


def _check(ranks: Sequence[RankEvents]) -> None:
    """Raises RefusedSource unless there are calls, and both ends of each message and operation."""
    calls = [[event for event in own.events if isinstance(event, Called)] for own in ranks]
    if not any(calls) and len(ranks) > 1:
        raise RefusedSource("no rank sends anything", 0, "name a program that calls MPI")
    _check_operations(calls)
    ends: dict[tuple[int, int, int], Counter[str]] = {}
    where: dict[tuple[int, int, int], int] = {}
    for rank, own in enumerate(calls):
        for event in own:
            if event.kind == COLLECTIVE:
                continue
            pair = (rank, event.partner) if event.kind == SENT else (event.partner, rank)
            key = (*pair, event.tag)
            ends.setdefault(key, Counter())[event.kind] += 1
            where.setdefault(key, event.line)
    for (source, target, tag), kinds in ends.items():
        if len(set(kinds.values())) > 1 or len(kinds) < 2:
            raise RefusedSource(
                f"rank {source} sends {kinds[SENT]} messages of tag {tag} to rank {target}, which "
                f"receives {kinds.total() - kinds[SENT]}",
                where[source, target, tag],
                "the program would not end, or not be understood: see which ranks call it",
            )


def _check_operations(calls: Sequence[Sequence[Called]]) -> None:
    first: list[Called] = []
    for rank, events in enumerate(calls):
        operations = [event for event in events if event.kind == COLLECTIVE]
        if rank == 0:
            first = operations
        for own, of_first in zip(operations, first, strict=False):
            if own.call != of_first.call:
                raise RefusedSource(
                    f"rank {rank} calls {own.call} where rank 0 calls {of_first.call}", own.line
                )
        if len(operations) != len(first):
            later = max(operations, first, key=len)[min(len(operations), len(first))]
            raise RefusedSource(
                f"rank 0 takes part in {len(first)} operations, and rank {rank} in "
                f"{len(operations)}",
                later.line,
                "all ranks of MPI_COMM_WORLD have to call it",
            )
