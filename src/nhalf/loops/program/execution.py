"""One rank runs through the program: numbers are followed, data is not."""

import contextlib
from collections import Counter as Tally
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast

from nhalf.loops.program.communicators import Communicators
from nhalf.loops.program.computing import InnermostLoops, Iterations
from nhalf.loops.program.events import Computed, RankEvents
from nhalf.loops.program.expression_values import ExpressionValues
from nhalf.loops.program.mpi_calls import MpiCalls
from nhalf.loops.program.numbers import Frame, Number, Unknown, combined
from nhalf.loops.program.structure import ENDS, Counter, Structure, arguments, called, touch
from nhalf.loops.source.iteration import below
from nhalf.loops.source.refusal import RefusedSource, line_of, refused

NEXT, BREAK, CONTINUE, RETURN = "next", "break", "continue", "return"
"""How a statement ends."""
DEPTH_MAX = 40
STEPS_MAX = EVENTS_MAX = 1_000_000
"""Iterations of a rank that are run through one by one, which most are not, and its calls."""
LEAPS = (c_ast.Break, c_ast.Continue, c_ast.Return, c_ast.Goto)
WHOLE_LOOP_MAX = 4096
"""Loops over whole numbers alone, such as counts by rank, are run through up to here."""


class Ended(Exception):
    """The program called exit."""


@dataclass(eq=False)
class ProgramReading:
    """A program with numbers of names, and how often the loops of some lines run.

    `nests` and `steady` are what was found out for one rank and is true of all.
    """

    structure: Structure
    loops: InnermostLoops
    numbers: dict[str, int]
    lines: dict[int, int]
    communicators: Communicators
    nests: dict[tuple[object, ...], Iterations] = field(default_factory=dict)
    steady: dict[Any, Counter | None] = field(default_factory=dict)


class RankExecution:
    """Runs main for one rank."""

    def __init__(self, reading: ProgramReading, rank: int) -> None:
        self.own = RankEvents()
        self._reading, self._structure = reading, reading.structure
        self._values = ExpressionValues(reading.structure, reading.numbers, self._call)
        self._calls = MpiCalls(self._values, rank, reading.communicators, self.own)
        self._iterations: Iterations = Tally()
        self._depth = self._steps = 0
        self._is_computing = False
        self._returned: Number = 0

    def run(self, tree: c_ast.FileAST) -> RankEvents:
        """All that the rank does; raises RefusedSource."""
        for part in tree.ext:
            if isinstance(part, c_ast.Decl):
                self._declare(part)
        with contextlib.suppress(Ended):
            self._function("main", [])
        return self.own

    def _declare(self, node: c_ast.Decl) -> None:
        if isinstance(node.type, c_ast.Enum) and node.type.values is not None:
            number: Number = 0
            for entry in node.type.values.enumerators:
                number = self._values.value(entry.value) if entry.value else number
                self._values.file.numbers[entry.name] = number
                number = combined("+", number, 1)
        if node.name and not isinstance(node.type, c_ast.FuncDecl):
            self._values.declare(node)

    def _call(self, node: c_ast.FuncCall) -> Number:
        name = called(node)
        if name in self._structure.functions:
            return self._function(name, [self._values.value(part) for part in arguments(node)])
        if name in ENDS:
            raise Ended
        if name.startswith("MPI_"):
            return self._calls.call(node)
        for argument in arguments(node):
            if isinstance(argument, c_ast.UnaryOp) and argument.op == "&":
                self._values.write(argument.expr, Unknown(name))
        return Unknown(name)

    def _function(self, name: str, numbers: Sequence[Number]) -> Number:
        function, values = self._structure.functions[name], self._values
        if self._depth >= DEPTH_MAX:
            raise refused(function.node, f"{name} calls itself too often")
        structure, outer = self._structure, (values.frame, values.variables)
        values.frame, values.variables = Frame(name), function.variables
        for place, parameter in enumerate(function.parameters):
            values.begin(parameter, numbers[place] if place < len(numbers) else None)
        was_computing = self._is_computing
        is_plain = not structure.talks(function.node) and not structure.has_loops(function.node)
        self._depth, self._is_computing = self._depth + 1, was_computing or is_plain
        self._returned = Unknown(name)
        self._statement(function.node.body)
        returned, self._returned = self._returned, Unknown(name)
        self._depth, self._is_computing = self._depth - 1, was_computing
        values.frame, values.variables = outer
        return returned

    def _statement(self, node: Any) -> str:
        """Run a statement; returns how it ended."""
        run: Callable[[Any], str] | None = getattr(self, f"_{type(node).__name__}", None)
        if run is not None:
            return run(node)
        if node is not None:
            self._values.value(node)
        return NEXT

    def _Compound(self, node: c_ast.Compound) -> str:
        ends = (self._statement(child) for child in node.block_items or ())
        return next((end for end in ends if end != NEXT), NEXT)

    def _DeclList(self, node: c_ast.DeclList) -> str:
        for child in node.decls:
            self._declare(child)
        return NEXT

    def _Decl(self, node: c_ast.Decl) -> str:
        self._declare(node)
        return NEXT

    def _Return(self, node: c_ast.Return) -> str:
        self._returned = self._values.value(node.expr) if node.expr else Unknown("it")
        return RETURN

    def _Break(self, _: c_ast.Break) -> str:
        return BREAK

    def _Continue(self, _: c_ast.Continue) -> str:
        return CONTINUE

    def _Goto(self, node: c_ast.Goto) -> str:
        raise refused(node, "goto is not followed", "write it with loops and branches")

    def _Switch(self, node: c_ast.Switch) -> str:
        if self._structure.talks(node):
            raise refused(node, "switch is not followed", "write it with if and else")
        self._values.forget(self._structure.changed(node))
        return NEXT

    def _If(self, node: c_ast.If) -> str:
        condition, line = self._values.value(node.cond), line_of(node)
        if isinstance(condition, Unknown):
            condition = self._reading.lines.get(line, condition)
        if not isinstance(condition, Unknown):
            return self._statement(node.iftrue if condition else node.iffalse)
        for branch, opposite in ((node.iftrue, node.iffalse), (node.iffalse, node.iftrue)):
            if branch is not None and self._ends(branch):
                return self._statement(opposite)
        leaps = any(isinstance(part, LEAPS) for part in below(node))
        if not self._is_computing and (leaps or self._structure.talks(node)):
            reason = f"which way this branch goes depends on {condition.name}, which is not known"
            raise RefusedSource(reason, line, f"give --set line{line}=0 or 1 for never or always")
        if self._structure.has_loops(node):
            self.own.left_out[line, f"a branch that depends on {condition.name}"] = None
        self._values.forget(self._structure.changed(node))
        return NEXT

    def _ends(self, branch: Any) -> bool:
        """Whether a branch ends the program, as one does that reports a mistake."""
        last = branch
        while isinstance(last, c_ast.Compound) and last.block_items:
            last = last.block_items[-1]
        if isinstance(last, c_ast.Return):
            return self._values.frame.function == "main"
        return isinstance(last, c_ast.FuncCall) and called(last) in ENDS

    def _For(self, node: Any) -> str:
        if self._structure.talks(node):
            return self._talking_loop(node)
        if self._is_computing:
            self._computing_loop(node)
            return NEXT
        self._is_computing = True
        self._computing_loop(node)
        self._is_computing = False
        for (loop, nest, arrays), iterations in self._iterations.items():
            self.own.events.append(Computed(loop, nest, iterations, arrays))
        self._iterations = Tally()
        return NEXT

    _While = _DoWhile = _For

    def _talking_loop(self, node: Any) -> str:
        """Run through a loop with calls until its iterations are alike, then repeat the last."""
        counter, events = self._steady_counter(node), self.own.events
        begins = [len(events)]

        def repeat(turns: int) -> int:
            begins.append(len(events))
            is_over = all(event < begins[-2] for event in self._calls.under_way)
            if turns != 2 or counter is None or not is_over:
                return 0
            turns_left = (self._trips(node, counter) or turns) - turns
            again = events[begins[-2] :]
            if len(again) * turns_left > EVENTS_MAX:
                raise refused(node, f"there are more than {EVENTS_MAX} calls", "ask for fewer")
            events.extend(again * turns_left)
            self._skip(node, counter, turns_left)
            return turns_left

        end, _ = self._run(node, repeat)
        return end

    def _run(self, node: Any, repeat: Callable[[int], int] = lambda turns: 0) -> tuple[str, int]:
        """Run through a loop; returns how it ended and how many iterations it had.

        `repeat` is told how many there were, and says how many it adds.
        """
        most, turns = self._reading.lines.get(line_of(node)), 0
        self._begin(node)
        while self._goes_on(node, turns, most):
            end = self._statement(node.stmt)
            if end in (BREAK, RETURN):
                return NEXT if end == BREAK else RETURN, turns
            if isinstance(node, c_ast.For) and node.next is not None:
                self._values.value(node.next)
            turns, self._steps = turns + 1, self._steps + 1
            turns += max(0, repeat(turns))
            if max(self._steps, len(self.own.events)) > STEPS_MAX:
                reason = f"its loops have more than {STEPS_MAX} iterations that differ"
                raise refused(node, reason, "ask for fewer")
        return NEXT, turns

    def _begin(self, node: Any) -> None:
        if isinstance(node, c_ast.For):
            self._statement(node.init)

    def _goes_on(self, node: Any, turns: int, most: int | None) -> bool:
        """Whether a loop has another iteration; raises RefusedSource if that is not known."""
        if most is not None:
            return turns < most
        if isinstance(node, c_ast.DoWhile) and not turns:
            return True
        condition: Number = 1 if node.cond is None else self._values.value(node.cond)
        if isinstance(condition, Unknown):
            raise self._endless(node, condition.name)
        return bool(condition)

    def _steady_counter(self, node: Any) -> Counter | None:
        """The counter of a loop whose iterations all do the same; None of others."""
        steady, structure = self._reading.steady, self._structure
        if node not in steady:
            is_alike = not touch(structure.carried(node), structure.steering(node.stmt))
            steady[node] = structure.counter(node) if is_alike else None
        return steady[node]

    def _trips(self, node: Any, counter: Counter) -> int | None:
        """How many iterations a loop has, by --set or from its start; None if not known."""
        if (most := self._reading.lines.get(line_of(node))) is not None:
            return most
        begin, end, step = self._values.numbers(counter.begin, counter.limit, counter.step)
        if begin is None or end is None or step is None or step <= 0:
            return None
        distance = end - begin if counter.grows else begin - end
        trips = distance // step + 1 if "=" in counter.sign else -(-distance // step)
        return max(0, int(trips))

    def _skip(self, node: Any, counter: Counter, turns: int) -> None:
        """Be where a loop is after more iterations."""
        place, step = self._values.place_of(counter.name), self._values.value(counter.step)
        by = combined("*", step, turns if counter.grows else -turns)
        number = combined("+", place.read(), by)
        self._values.forget(sorted(self._structure.carried(node)))
        place.write(number)

    def _computing_loop(self, node: Any) -> None:
        """Count the iterations of a loop without calls, and of those within."""
        structure = self._structure
        if not structure.has_loops(node.stmt):
            self._innermost(node)
            return
        places = map(self._values.place_of, structure.names(node))
        numbers = [number for place in places for number in place.read_all()]
        key = (node, *(number if isinstance(number, (int, float)) else getattr(number, "name", "")
                       for number in numbers))  # fmt: skip
        if key not in self._reading.nests:
            outer, self._iterations = self._iterations, Tally()
            self._nest(node)
            self._reading.nests[key], self._iterations = self._iterations, outer
        self._iterations.update(self._reading.nests[key])
        self._values.forget(structure.changed(node))

    def _nest(self, node: Any) -> None:
        """Run through a loop of loops, once if all its iterations are alike."""
        counter = self._steady_counter(node)
        trips = self._trips(node, counter) if counter else None
        if trips is None:
            self._run(node)
        elif trips:
            self._begin(node)
            self._statement(node.stmt)
            own = self._iterations.items()
            around = (counter.name if counter else "", trips)
            self._iterations = Tally(
                {(loop, (*nest, around), arrays): trips * times
                 for (loop, nest, arrays), times in own}
            )  # fmt: skip

    def _innermost(self, node: Any) -> None:
        line, is_whole = line_of(node), self._is_whole(node)
        counter = self._structure.counter(node)
        trips = self._trips(node, counter) if counter else self._reading.lines.get(line)
        if trips is None and not is_whole:
            self._begin(node)
            condition = self._values.value(node.cond) if node.cond is not None else 1
            raise self._endless(node, getattr(condition, "name", "more than a counter"))
        if is_whole and (trips or 0) <= WHOLE_LOOP_MAX:
            _, trips = self._run(node)
        else:
            self._values.forget(self._structure.changed(node))
        if not trips:
            return
        try:
            loop = self._reading.loops.read(node, self._values)
            arrays = self._reading.loops.arrays(loop, self._values)
            self._iterations[loop, (("", trips),), arrays] += trips
        except RefusedSource as refusal:
            if not is_whole:  # Such a loop was run through to count, and computes no data.
                self.own.left_out[refusal.line or line, refusal.message] = None

    def _is_whole(self, node: Any) -> bool:
        """Whether a loop assigns whole numbers only, which messages may depend on."""
        owners = [self._values.variable(name) for name in self._structure.changed(node)]
        return all(owner is not None and not owner.element.is_floating_point for owner in owners)

    def _endless(self, node: Any, name: str) -> RefusedSource:
        line, remedy = line_of(node), f"give its iterations: --set line{line_of(node)}=100"
        if self._is_settable(name):
            remedy = f"give it: --set {name}=1000, or the loop's iterations: --set line{line}=100"
        reason = f"how often this loop runs depends on {name}, which is not known"
        return RefusedSource(reason, line, remedy)

    def _is_settable(self, name: str) -> bool:
        """Whether a name is a whole number, as --set gives them."""
        owner = self._values.variable(name)
        return owner is not None and not owner.rank and not owner.element.is_floating_point
