"""Loops without calls of MPI: how many iterations of which innermost loop."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass, replace
from typing import Any

from pycparser import c_ast

from nhalf.loops.program.events import InnermostLoop
from nhalf.loops.program.expression_values import ExpressionValues
from nhalf.loops.program.flattened import Flattened
from nhalf.loops.program.numbers import NumberPlace
from nhalf.loops.program.structure import SourceFunction, Structure, names_in
from nhalf.loops.source.counts import count
from nhalf.loops.source.iteration import Outside, below, read_loop
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
        self._flat: dict[tuple[Any, str], _FlatLoop] = {}

    def read(self, loop: Any, values: ExpressionValues) -> InnermostLoop:
        """The essential operations of a loop; raises RefusedSource if they cannot be counted."""
        function = self._structure.functions[values.frame.function]
        flat = self._flattened(loop, function)
        numbers = {}
        for name in flat.names:
            number = values.place_of(name).read()
            if isinstance(number, int) and name not in function.changed_in_loops:
                numbers[name] = number
        key = (loop, function.name, *numbers.items())
        if key not in self._loops:
            self._loops[key] = self._read(flat, function.name, numbers)
        innermost = self._loops[key]
        if isinstance(innermost, RefusedSource):
            raise innermost
        return innermost

    def arrays(self, innermost: InnermostLoop, values: ExpressionValues) -> Arrays:
        """The memory that the names of arrays in a loop stand for."""
        names = dict.fromkeys(stream.array.name for stream in innermost.counts.streams)
        places = {name: values.value(c_ast.ID(name.split()[0])) for name in names}
        return tuple(
            (name, f"{place.frame.function} {place.name}")
            for name, place in places.items()
            if isinstance(place, NumberPlace)
        )

    def _flattened(self, loop: Any, function: SourceFunction) -> _FlatLoop:
        """A loop without structures. Of the numbers that it uses only those in subscripts count:
        the operations of an iteration depend on no others.
        """
        key = loop, function.name
        if key not in self._flat:
            variables = {**self._structure.variables, **function.variables}
            flattened = Flattened(variables, self._structure.functions)
            flat = flattened(loop)
            parts = [part.subscript for part in below(flat) if isinstance(part, c_ast.ArrayRef)]
            names = sorted(set[str]().union(*map(names_in, parts)))
            self._flat[key] = _FlatLoop(flat, names, flattened.variables)
        return self._flat[key]

    def _read(
        self, flat: _FlatLoop, function: str, numbers: dict[str, int]
    ) -> InnermostLoop | RefusedSource:
        apart = {name: _apart(own) for name, own in flat.variables.items()}
        values = {name: integer(number) for name, number in numbers.items()}
        try:
            outside = Outside(function, apart, self._structure.types, {**values})
            return InnermostLoop(count(read_loop(flat.loop, outside)))
        except RefusedSource as refusal:
            return refusal


@dataclass(frozen=True)
class _FlatLoop:
    """A loop without structures, the names in its subscripts, and what it can see."""

    loop: Any
    names: list[str]
    variables: dict[str, Variable]


def _apart(variable: Variable) -> Variable:
    """A variable that overlaps nothing; the rows of a pointer to pointers are those of an array."""
    levels = min(variable.levels, 1)
    rows = (None,) * (variable.levels - levels)
    return replace(variable, is_restrict=True, levels=levels, extents=(*rows, *variable.extents))
