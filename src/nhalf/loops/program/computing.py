"""Loops without calls of MPI: how many iterations of which innermost loop."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from nhalf.loops.program.events import InnermostLoop
from nhalf.loops.program.expression_values import ExpressionValues
from nhalf.loops.program.numbers import NumberPlace
from nhalf.loops.program.structure import Structure, below, names_in
from nhalf.loops.source.counts import count
from nhalf.loops.source.iteration import Outside, read_loop
from nhalf.loops.source.polynomial import integer
from nhalf.loops.source.refusal import RefusedSource
from nhalf.loops.source.variables import Variable

Arrays = tuple[tuple[str, str], ...]
Iterations = Tally[tuple[InnermostLoop, tuple[tuple[str, int], ...], Arrays]]
"""Iterations by loop, by its nest (see Computed), and by the memory of its arrays."""


class InnermostLoops:
    """What innermost loops compute, read once for all ranks and all numbers that do not matter.

    Pointers are taken not to overlap, with which a loop is fastest: the bound stays one.
    """

    def __init__(self, structure: Structure) -> None:
        self._structure = structure
        self._loops: dict[tuple[object, ...], InnermostLoop | RefusedSource] = {}
        self._names: dict[Any, list[str]] = {}

    def read(self, loop: Any, values: ExpressionValues) -> InnermostLoop:
        """The essential operations of a loop; raises RefusedSource if they cannot be counted."""
        frame = values.frame
        function = self._structure.functions[frame.function]
        numbers = {}
        for name in self._subscripts(loop):
            number = values.place_of(name).read()
            if isinstance(number, int) and name not in function.changed_in_loops:
                numbers[name] = number
        key = (loop, *numbers.items())
        if key not in self._loops:
            self._loops[key] = self._read(loop, function.name, numbers)
        innermost = self._loops[key]
        if isinstance(innermost, RefusedSource):
            raise innermost
        return innermost

    def arrays(self, innermost: InnermostLoop, values: ExpressionValues) -> Arrays:
        """The memory that the names of arrays in a loop stand for."""
        names = dict.fromkeys(stream.array.name for stream in innermost.counts.streams)
        places = {name: values.value(c_ast.ID(name)) for name in names}
        return tuple(
            (name, f"{place.frame.function} {place.name}")
            for name, place in places.items()
            if isinstance(place, NumberPlace)
        )

    def _subscripts(self, loop: Any) -> list[str]:
        """The names in subscripts: the operations of an iteration depend on no others."""
        if loop not in self._names:
            parts = [part.subscript for part in below(loop) if isinstance(part, c_ast.ArrayRef)]
            self._names[loop] = sorted(set[str]().union(*map(names_in, parts)))
        return self._names[loop]

    def _read(
        self, loop: Any, function: str, numbers: dict[str, int]
    ) -> InnermostLoop | RefusedSource:
        variables = {**self._structure.variables, **self._structure.functions[function].variables}
        apart = {name: _apart(own) for name, own in variables.items()}
        values = {name: integer(number) for name, number in numbers.items()}
        try:
            outside = Outside(function, apart, self._structure.types, {**values})
            return InnermostLoop(count(read_loop(loop, outside)))
        except RefusedSource as refusal:
            return refusal


def _apart(variable: Variable) -> Variable:
    """A variable that overlaps nothing; the rows of a pointer to pointers are those of an array."""
    levels = min(variable.levels, 1)
    rows = (None,) * (variable.levels - levels)
    return replace(variable, is_restrict=True, levels=levels, extents=(*rows, *variable.extents))
