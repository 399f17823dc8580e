"""All ranks of a program: what each computes and sends, and whether that fits together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pycparser import c_ast

from nhalf.loops.program.communicators import Communicators, NotSplitYet
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
        communicators = Communicators(ranks)
        reading = ProgramReading(structure, loops, variables, lines, communicators)
        try:
            events = _events(reading, tree, ranks)
        except RecursionError:
            raise RefusedSource("it is nested too deeply to be read") from None
        _check(events, communicators)
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


def _events(reading: ProgramReading, tree: c_ast.FileAST, ranks: int) -> list[RankEvents]:
    """Each rank from its begin, as far as others have said their colours, until all have."""
    while True:
        events, colours = list[RankEvents](), reading.communicators.colours_known
        for rank in range(ranks):
            with suppress(NotSplitYet):
                events.append(RankExecution(reading, rank).run(tree))
        if len(events) == ranks:
            return events
        if reading.communicators.colours_known == colours:
            raise RefusedSource("MPI_Comm_split is not called by all ranks of its communicator")


def _is_line(name: str) -> bool:
    return name.startswith(LINE) and name.removeprefix(LINE).isdecimal()


def _check(ranks: Sequence[RankEvents], communicators: Communicators) -> None:
    """Raises RefusedSource unless there are calls, and both ends of each message and operation."""
    calls = [[event for event in own.events if isinstance(event, Called)] for own in ranks]
    if not any(calls) and len(ranks) > 1:
        raise RefusedSource("no rank sends anything", 0, "name a program that calls MPI")
    _check_operations(calls, communicators)
    ends: dict[tuple[int, int, int, int], Counter[str]] = {}
    where: dict[tuple[int, int, int, int], int] = {}
    for rank, own in enumerate(calls):
        for event in own:
            if event.kind == COLLECTIVE:
                continue
            pair = (rank, event.partner) if event.kind == SENT else (event.partner, rank)
            key = (*pair, event.tag, event.communicator)
            ends.setdefault(key, Counter())[event.kind] += 1
            where.setdefault(key, event.line)
    for key, kinds in ends.items():
        if len(set(kinds.values())) > 1 or len(kinds) < 2:
            source, target, tag, _ = key
            raise RefusedSource(
                f"rank {source} sends {kinds[SENT]} messages of tag {tag} to rank {target}, which "
                f"receives {kinds.total() - kinds[SENT]}",
                where[key],
                "the program would not end, or not be understood: see which ranks call it",
            )


def _check_operations(calls: Sequence[Sequence[Called]], communicators: Communicators) -> None:
    """Raises RefusedSource unless the ranks of a communicator call the same operations."""
    operations: dict[tuple[int, int], list[Called]] = {}
    for rank, events in enumerate(calls):
        for event in events:
            if event.kind == COLLECTIVE:
                operations.setdefault((rank, event.communicator), []).append(event)
    for number, communicator in communicators.by_number.items():
        first, *members = communicator.members
        of_first = operations.get((first, number), [])
        for rank in members:
            _check_alike(first, of_first, rank, operations.get((rank, number), []))


def _check_alike(first: int, of_first: Sequence[Called], rank: int, own: Sequence[Called]) -> None:
    for event, of_other in zip(own, of_first, strict=False):
        if event.call != of_other.call:
            reason = f"rank {rank} calls {event.call} where rank {first} calls {of_other.call}"
            raise RefusedSource(reason, event.line)
    if len(own) != len(of_first):
        later = max(own, of_first, key=len)[min(len(own), len(of_first))]
        raise RefusedSource(
            f"rank {first} takes part in {len(of_first)} operations, and rank {rank} in {len(own)}",
            later.line,
            "all ranks of its communicator have to call it",
        )
