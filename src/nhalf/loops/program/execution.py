"""One rank runs through the program: numbers are followed, data is not."""

from __future__ import annotations

from collections import Counter as Tally
from typing import Any

from pycparser import c_ast

from nhalf.loops.program.computing import InnermostLoops, Iterations
from nhalf.loops.program.evaluation import Evaluation
from nhalf.loops.program.events import Computed, RankEvents
from nhalf.loops.program.mpi_calls import Calls
from nhalf.loops.program.numbers import Frame, Known, Place, Unknown, combined
from nhalf.loops.program.structure import (
    ENDS,
    Counter,
    Structure,
    arguments,
    below,
    called,
    counter_of,
)
from nhalf.loops.source.iteration import LOOPS
from nhalf.loops.source.refusal import RefusedSource, line_of, refused

NEXT, BREAK, CONTINUE, RETURN = "next", "break", "continue", "return"
DEPTH_MAX = 40
STEPS_MAX = 1_000_000
"""Iterations that are run through one by one, of one rank; most loops are not."""
EVENTS_MAX = 1_000_000
LEAPS = (c_ast.Break, c_ast.Continue, c_ast.Return, c_ast.Goto)
WHOLE_LOOP_MAX = 4096
"""Loops over whole numbers alone, such as counts by rank, are run through up to here."""


class Ended(Exception):
    """The program called exit."""


class RankExecution:
    """Runs main for one rank. `given` are numbers of names, `iterations` those of lines."""

    def __init__(
        self,
        structure: Structure,
        loops: InnermostLoops,
        given: dict[str, int],
        lines: dict[int, int],
        rank: int,
        ranks: int,
        kept: dict[Any, Any],
    ) -> None:
        self.own = RankEvents()
        self._structure, self._loops, self._lines, self._kept = structure, loops, lines, kept
        self._evaluation = Evaluation(structure, given, self._call)
        self._calls = Calls(self._evaluation, rank, ranks, self.own)
        self._iterations: Iterations = Tally()
        self._depth = self._steps = 0
        self._is_computing = False
        self._returned: Known = 0

    def run(self, tree: c_ast.FileAST) -> RankEvents:
        """All that the rank does; raises RefusedSource."""
        for part in tree.ext:
            if isinstance(part, c_ast.Decl):
                self._declare(part)
        try:
            self._function("main", [])
        except Ended:
            pass
        return self.own

    def _declare(self, node: c_ast.Decl) -> None:
        if isinstance(node.type, c_ast.Enum) and node.type.values is not None:
            number: Known = 0
            for entry in node.type.values.enumerators:
                number = self._evaluation.value(entry.value) if entry.value else number
                self._evaluation.file.numbers[entry.name] = number
                number = combined("+", number, 1)
        if node.name and not isinstance(node.type, c_ast.FuncDecl):
            self._evaluation.declare(node)

    def _call(self, node: c_ast.FuncCall) -> Known:
        name = called(node)
        if name in self._structure.functions:
            return self._function(name, [self._evaluation.value(part) for part in arguments(node)])
        if name in ENDS:
            raise Ended
        if name.startswith("MPI_"):
            return self._calls.call(node)
        for argument in arguments(node):
            if isinstance(argument, c_ast.UnaryOp) and argument.op == "&":
                self._evaluation.write(argument.expr, Unknown(name))
        return Unknown(name)

    def _function(self, name: str, given: list[Known]) -> Known:
        function, evaluation = self._structure.functions[name], self._evaluation
        if self._depth >= DEPTH_MAX:
            raise refused(function.node, f"{name} calls itself too often")
        outer = evaluation.frame, evaluation.variables
        frame = Frame(name)
        for parameter in function.parameters:
            frame.numbers[parameter] = Unknown(parameter)
        frame.numbers |= zip(function.parameters, given, strict=False)
        for parameter in function.parameters:
            if evaluation.is_given(parameter, frame):
                frame.numbers[parameter] = evaluation.given[parameter]
        evaluation.frame, evaluation.variables = frame, function.variables
        structure, was_computing = self._structure, self._is_computing
        is_plain = not structure.talks(function.node) and not structure.has_loops(function.node)
        self._depth, self._is_computing = self._depth + 1, was_computing or is_plain
        self._returned = Unknown(name)
        self._statement(function.node.body)
        returned, self._returned = self._returned, Unknown(name)
        self._depth, self._is_computing = self._depth - 1, was_computing
        evaluation.frame, evaluation.variables = outer
        return returned

    def _statement(self, node: Any) -> str:
        """Run a statement; returns how it ended."""
        if isinstance(node, c_ast.Compound):
            for child in node.block_items or ():
                if (end := self._statement(child)) != NEXT:
                    return end
        elif isinstance(node, c_ast.DeclList):
            for child in node.decls:
                self._declare(child)
        elif isinstance(node, c_ast.Decl):
            self._declare(node)
        elif isinstance(node, c_ast.If):
            return self._branch(node)
        elif isinstance(node, LOOPS):
            return self._loop(node)
        elif isinstance(node, c_ast.Return):
            self._returned = self._evaluation.value(node.expr) if node.expr else Unknown("it")
            return RETURN
        elif isinstance(node, (c_ast.Break, c_ast.Continue)):
            return BREAK if isinstance(node, c_ast.Break) else CONTINUE
        elif isinstance(node, c_ast.Label):
            return self._statement(node.stmt)
        elif isinstance(node, (c_ast.Switch, c_ast.Goto)):
            if self._structure.talks(node) or isinstance(node, c_ast.Goto):
                kind = type(node).__name__.lower()
                raise refused(node, f"{kind} is not understood here", "write it with if and else")
            self._evaluation.forget(self._structure.changed(node))
        elif node is not None:
            self._evaluation.value(node)
        return NEXT

    def _branch(self, node: c_ast.If) -> str:
        condition = self._evaluation.value(node.cond)
        line = line_of(node)
        if isinstance(condition, Unknown) and line in self._lines:
            condition = self._lines[line]
        if not isinstance(condition, Unknown):
            return self._statement(node.iftrue if condition else node.iffalse)
        for branch, otherwise in ((node.iftrue, node.iffalse), (node.iffalse, node.iftrue)):
            if branch is not None and self._ends(branch):
                return self._statement(otherwise)
        parts = list(below(node.iftrue)) + list(below(node.iffalse))
        if self._structure.talks(node) or any(isinstance(part, LEAPS) for part in parts):
            if not self._is_computing:
                raise RefusedSource(
                    f"which way this branch goes depends on {condition.name}, which is not known",
                    line,
                    f"give it: --set {condition.name}=1, or --set line{line}=0 or 1 for never or "
                    "always",
                )
        if self._structure.has_loops(node):
            self._leave_out(line, f"a branch that depends on {condition.name}")
        self._evaluation.forget(self._structure.changed(node))
        return NEXT

    def _ends(self, branch: Any) -> bool:
        """Whether a branch ends the program, as one does that reports a mistake."""
        last = branch
        while isinstance(last, c_ast.Compound) and last.block_items:
            last = last.block_items[-1]
        if isinstance(last, c_ast.Return):
            return self._evaluation.frame.function == "main"
        return isinstance(last, c_ast.FuncCall) and called(last) in ENDS

    def _loop(self, node: Any) -> str:
        if self._structure.talks(node):
            return self._talking_loop(node)
        if self._is_computing:
            self._computing_loop(node)
            return NEXT
        self._is_computing = True
        try:
            self._computing_loop(node)
        finally:
            self._is_computing = False
        for (loop, trips), iterations in self._iterations.items():
            self.own.events.append(Computed(loop, trips, iterations))
        self._iterations = Tally()
        return NEXT

    def _talking_loop(self, node: Any) -> str:
        counter = self._steady_counter(node)
        most = self._lines.get(line_of(node))
        turns, begun = 0, 0
        self._begin(node)
        while self._goes_on(node, turns, most):
            begun = len(self.own.events)
            end = self._statement(node.stmt)
            if end in (BREAK, RETURN):
                return NEXT if end == BREAK else RETURN
            if isinstance(node, c_ast.For) and node.next is not None:
                self._evaluation.value(node.next)
            turns += 1
            self._step(node)
            if turns == 2 and counter and all(at < begun for at in self._calls.under_way):
                left = self._left(counter) if most is None else most - turns
                turns += self._repeat(node, counter, left or 0, begun)
            if len(self.own.events) > EVENTS_MAX:
                raise refused(node, f"there are more than {EVENTS_MAX} calls", "take less of them")
        return NEXT

    def _repeat(self, node: Any, counter: Counter, left: int, begun: int) -> int:
        """Do as the last iteration did, as often as is left."""
        if left <= 0:
            return 0
        own = self.own.events[begun:]
        if len(own) * left > EVENTS_MAX:
            raise refused(node, f"there are more than {EVENTS_MAX} calls", "take less of them")
        self.own.events.extend(own * left)
        self._skip(node, counter, left)
        return left

    def _steady_counter(self, node: Any) -> Counter | None:
        """The counter of a loop whose iterations all do the same; None of others."""
        if ("steady", node) not in self._kept:
            counter = counter_of(node)
            carried = self._structure.carried(node) & self._structure.steering(node.stmt)
            self._kept["steady", node] = None if carried else counter
        counter = self._kept["steady", node]
        return counter

    def _begin(self, node: Any) -> None:
        if isinstance(node, c_ast.For) and node.init is not None:
            if isinstance(node.init, c_ast.DeclList):
                self._statement(node.init)
            else:
                self._evaluation.value(node.init)

    def _goes_on(self, node: Any, turns: int, most: int | None) -> bool:
        """Whether a loop has another iteration; raises RefusedSource if that is not known."""
        if most is not None:
            return turns < most
        if isinstance(node, c_ast.DoWhile) and not turns:
            return True
        condition: Known = 1 if node.cond is None else self._evaluation.value(node.cond)
        if isinstance(condition, Unknown):
            raise _endless(node, condition.name)
        return bool(condition)

    def _step(self, node: Any) -> None:
        self._steps += 1
        if self._steps > STEPS_MAX:
            raise refused(
                node, f"its loops have more than {STEPS_MAX} iterations that differ", "take less"
            )

    def _left(self, counter: Counter) -> int | None:
        """How many iterations are left; None if that is not known."""
        value = self._evaluation.value
        now, limit, step = (
            value(c_ast.ID(counter.name)),
            value(counter.limit),
            value(counter.step),
        )
        for number in (now, limit, step):
            if isinstance(number, (Unknown, Place)):
                return None
        assert not isinstance(now, (Unknown, Place))
        assert not isinstance(limit, (Unknown, Place))
        assert not isinstance(step, (Unknown, Place))
        if counter.grows != (counter.sign in {"<", "<="}) or step <= 0:
            return None
        distance = limit - now if counter.grows else now - limit
        if "=" in counter.sign:
            return max(0, int(distance // step) + 1)
        return max(0, int(-(-distance // step)))

    def _skip(self, node: Any, counter: Counter, turns: int) -> None:
        """Be where a loop is after more iterations."""
        place, step = self._evaluation.place_of(counter.name), self._evaluation.value(counter.step)
        by = combined("*", step, turns if counter.grows else -turns)
        after = combined("+", place.read(), by)
        self._evaluation.forget(sorted(self._structure.carried(node)))
        place.write(after)

    def _computing_loop(self, node: Any) -> None:
        """Count the iterations of a loop without calls, and of those within."""
        structure, line = self._structure, line_of(node)
        if not structure.has_loops(node.stmt):
            self._innermost(node, line)
            structure_names = structure.changed(node)
            if not self._is_whole(node):
                self._evaluation.forget(structure_names)
            return
        names = structure.names(node)
        key = (node, *(self._fixed(name) for name in names))
        if key not in self._kept:
            outer, self._iterations = self._iterations, Tally()
            self._nest(node)
            self._kept[key] = self._iterations
            self._iterations = outer
        for loop, iterations in self._kept[key].items():
            self._iterations[loop] += iterations
        self._evaluation.forget(structure.changed(node))

    def _fixed(self, name: str) -> Known | str:
        number = self._evaluation.place_of(name).read()
        return number if isinstance(number, (int, float)) else ""

    def _nest(self, node: Any) -> None:
        """Run through a loop of loops, once if all its iterations are alike."""
        counter, most = self._steady_counter(node), self._lines.get(line_of(node))
        self._begin(node)
        left = self._left(counter) if counter and most is None else most
        if (counter or most is not None) and left is not None and self._is_alike(node):
            outer, self._iterations = self._iterations, Tally()
            if left > 0:
                self._statement(node.stmt)
            for loop, iterations in self._iterations.items():
                outer[loop] += left * iterations
            self._iterations = outer
            return
        turns = 0
        while self._goes_on(node, turns, most):
            if self._statement(node.stmt) in (BREAK, RETURN):
                return
            if isinstance(node, c_ast.For) and node.next is not None:
                self._evaluation.value(node.next)
            turns += 1
            self._step(node)

    def _is_alike(self, node: Any) -> bool:
        return not self._structure.carried(node) & self._structure.steering(node.stmt)

    def _innermost(self, node: Any, line: int) -> None:
        most, counter = self._lines.get(line), counter_of(node)
        self._begin(node)
        trips = most if most is not None else self._left(counter) if counter else None
        if trips is None:
            condition = self._evaluation.value(node.cond) if node.cond is not None else 1
            name = condition.name if isinstance(condition, Unknown) else ""
            if name or not self._is_whole(node):
                raise _endless(node, name or "more than a counter")
        if isinstance(node, c_ast.DoWhile):
            trips = max(1, trips or 1)
        if trips is None or (self._is_whole(node) and trips <= WHOLE_LOOP_MAX):
            trips = self._run_through(node)
        if trips == 0:
            return
        try:
            self._iterations[self._loops.read(node, self._evaluation), trips] += trips
        except RefusedSource as refusal:
            self._leave_out(refusal.line or line, refusal.message)

    def _run_through(self, node: Any) -> int:
        turns = 0
        while self._goes_on(node, turns, self._lines.get(line_of(node))):
            if self._statement(node.stmt) in (BREAK, RETURN):
                break
            if isinstance(node, c_ast.For) and node.next is not None:
                self._evaluation.value(node.next)
            turns += 1
            self._step(node)
        return turns

    def _is_whole(self, node: Any) -> bool:
        """Whether a loop assigns whole numbers only, which messages may depend on."""
        if ("whole", node) not in self._kept:
            owners = [self._evaluation.variable(name) for name in self._structure.changed(node)]
            self._kept["whole", node] = all(
                owner is not None and not owner.element.is_floating_point for owner in owners
            )
        is_whole: bool = self._kept["whole", node]
        return is_whole

    def _leave_out(self, line: int, reason: str) -> None:
        self.own.left_out[line, reason] = None


def _endless(node: Any, name: str) -> RefusedSource:
    line = line_of(node)
    remedy = f"give its iterations: --set line{line}=100"
    if name.isidentifier():
        remedy = f"give it: --set {name}=1000, or the loop's iterations: --set line{line}=100"
    return RefusedSource(f"how often this loop runs depends on {name}, which is not known", line,
                         remedy)  # fmt: skip
