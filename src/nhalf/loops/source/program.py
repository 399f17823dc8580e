"""The innermost loops of a C file in order, each read with the values known before it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pycparser import c_ast

from nhalf.base.errors import unknown
from nhalf.loops.source.counts import LoopCounts, count
from nhalf.loops.source.expressions import ALLOCATORS, Expressions
from nhalf.loops.source.iteration import LOOPS, Loop, Outside, below, changed_names, read_loop
from nhalf.loops.source.polynomial import integer, symbol
from nhalf.loops.source.preprocessed import HeaderSearch
from nhalf.loops.source.refusal import RefusedSource, line_of
from nhalf.loops.source.source import ParsedSource, source_of
from nhalf.loops.source.statements import NO_OPERATION, execute
from nhalf.loops.source.values import PointerTarget, Value
from nhalf.loops.source.variables import Types, Variable, type_of, variable


@dataclass
class SourceProgram:
    """The loops of a file that were read, and the refusals of those that were not.

    `remedy` helps where a header is missing.
    """

    loops: list[LoopCounts] = field(default_factory=list)
    refusals: list[RefusedSource] = field(default_factory=list)
    remedy: str = ""

    def refuse(self, refusal: RefusedSource, line: int) -> None:
        """Add a refusal; of what nothing declares a missing header may be the cause."""
        is_undeclared = "declare" in refusal.message
        remedy = refusal.remedy or (self.remedy if is_undeclared else "")
        self.refusals.append(RefusedSource(refusal.message, refusal.line or line, remedy))


@dataclass(frozen=True)
class ReadingOptions:
    """Options of reading a file.

    One function, values of names, whether pointers overlap, and where headers are.
    """

    function: str = ""
    numbers: Mapping[str, int] = field(default_factory=dict)
    no_alias: bool = False
    search: HeaderSearch = field(default_factory=HeaderSearch)


def read_program(path: Path, reading: ReadingOptions | None = None) -> SourceProgram:
    """Read all innermost loops of a file; raises RefusedSource if it cannot be read, or has none.

    Raises InputError for a function that is not there.
    """
    try:
        reading = reading or ReadingOptions()
        return _read(source_of(path, reading.search), reading)
    except RecursionError:
        raise RefusedSource("it is nested too deeply to be read") from None


def _read(source: ParsedSource, reading: ReadingOptions) -> SourceProgram:
    """Read all innermost loops of a syntax tree."""
    tree = source.tree
    functions = {
        definition.decl.name: definition
        for definition in tree.ext
        if isinstance(definition, c_ast.FuncDef)
    }
    if reading.function and reading.function not in functions:
        raise unknown("function", reading.function, functions)
    types, variables, variable_values = _globals(tree, reading)
    program = SourceProgram(refusals=list(source.refusals), remedy=source.remedy)
    for name, function in functions.items():
        if reading.function in {"", name}:
            walk = _Walk(name, types, dict(variables), dict(variable_values), reading, program)
            walk.function(function)
    if not program.loops and not program.refusals:
        reason = f"{reading.function} has no loop" if reading.function else "there is no loop in it"
        raise RefusedSource(reason, line_of(functions[reading.function]) if reading.function else 0)
    return program


def _globals(
    tree: c_ast.FileAST, reading: ReadingOptions
) -> tuple[Types, dict[str, Variable], dict[str, Value]]:
    """The types, variables and constants of the file scope."""
    types: Types = {}
    variables: dict[str, Variable] = {}
    variable_values: dict[str, Value] = {}
    for declaration in tree.ext:
        if isinstance(declaration, c_ast.Typedef):
            types[declaration.name] = type_of(declaration, types)
        elif isinstance(declaration, c_ast.Decl):
            _enumerate(declaration.type, variables, variable_values)
            if declaration.name and not isinstance(declaration.type, c_ast.FuncDecl):
                variables[declaration.name] = _declared(declaration, types, "global", reading)
                if "const" in (declaration.quals or ()) and declaration.init is not None:
                    with suppress(RefusedSource):
                        variable_values[declaration.name] = Expressions(
                            variables, types, dict(variable_values)
                        ).value(declaration.init)
    numbers = reading.numbers.items()
    variable_values |= {name: integer(value) for name, value in numbers if name in variables}
    return types, variables, variable_values


def _enumerate(
    node: Any, variables: dict[str, Variable], variable_values: dict[str, Value]
) -> None:
    """Declare the names of an enumeration as integers."""
    if not isinstance(node, c_ast.Enum) or node.values is None:
        return
    value = integer(0)
    for enumerator in node.values.enumerators:
        if enumerator.value is not None:
            value = Expressions(variables, {}, dict(variable_values)).integer(enumerator.value)
        variable_values[enumerator.name] = value
        value = value + integer(1)


def _declared(node: c_ast.Decl, types: Types, where: Any, reading: ReadingOptions) -> Variable:
    declared = variable(node, types, where)
    return replace(declared, is_restrict=True) if reading.no_alias else declared


class _Walk:
    """Walks through the statements of a function in order, and reads loops when it reaches them."""

    def __init__(
        self,
        function: str,
        types: Types,
        variables: dict[str, Variable],
        variable_values: dict[str, Value],
        reading: ReadingOptions,
        program: SourceProgram,
    ) -> None:
        self.outside = Outside(function, variables, types, variable_values)
        self.variables = variables
        self.types = types
        self.reading = reading
        self.program = program
        self.forgotten_count = 0

    def function(self, node: c_ast.FuncDef) -> None:
        """Read the parameters, then the body."""
        parameters = node.decl.type.args
        for parameter in parameters.params if parameters else ():
            if isinstance(parameter, c_ast.Decl) and parameter.name:
                name, numbers = parameter.name, self.reading.numbers
                self.variables[name] = _declared(parameter, self.types, "parameter", self.reading)
                if name in numbers:
                    self.outside.variable_values[name] = integer(numbers[name])
        self.statement(node.body)

    def statement(self, node: Any) -> None:
        """Read a statement, and those inside it."""
        if node is None or isinstance(node, NO_OPERATION):
            return
        if isinstance(node, LOOPS):
            self._loop(node)
        elif isinstance(node, c_ast.Compound):
            for child in node.block_items or ():
                self.statement(child)
        elif isinstance(node, c_ast.DeclList):
            for child in node.decls:
                self.statement(child)
        elif isinstance(node, c_ast.Decl):
            self._declare(node)
        elif any(isinstance(child, LOOPS) for child in below(node)):
            # Loops within a branch, or behind a label.
            self._forget(changed_names(node))
            for _, child in node.children():
                self.statement(child)
            self._forget(changed_names(node))
        else:
            self._simple(node)

    def _loop(self, node: Loop) -> None:
        # The variables of a loop and of its body are in one scope.
        for part in below(node):
            if isinstance(part, c_ast.Decl) and part.name:
                self.variables[part.name] = _declared(part, self.types, "local", self.reading)
        is_inner = not any(isinstance(child, LOOPS) for child in below(node.stmt))
        if is_inner:
            try:
                self.program.loops.append(count(read_loop(node, self.outside)))
            except RefusedSource as refusal:
                self.program.refuse(refusal, line_of(node))
        else:
            if isinstance(node, c_ast.For):
                self._simple(node.init)
            self._forget(changed_names(node))
            self.statement(node.stmt)
        self._forget(changed_names(node))

    def _declare(self, node: c_ast.Decl) -> None:
        if isinstance(node.type, c_ast.Enum):
            _enumerate(node.type, self.variables, self.outside.variable_values)
        if not node.name or isinstance(node.type, c_ast.FuncDecl):
            return
        declared = _declared(node, self.types, "local", self.reading)
        is_restrict = declared.is_restrict or _is_new(node)
        self.variables[node.name] = replace(declared, is_restrict=is_restrict)
        self._forget([node.name])
        self._simple(node)

    def _simple(self, node: Any) -> None:
        """Evaluate a statement without loops, and forget the values that it leaves unknown."""
        expressions = Expressions(self.variables, self.types, dict(self.outside.variable_values))
        try:
            execute(expressions, node)
            self.outside.variable_values = expressions.variable_values
        except RefusedSource:
            self._forget(changed_names(node) if node is not None else [])

    def _forget(self, names: list[str]) -> None:
        """Forget the values of variables: each becomes a new symbol."""
        for name in names:
            self.forgotten_count += 1
            variable = self.variables.get(name)
            last_value = self.outside.variable_values.pop(name, None)
            if variable is None:
                continue
            unknown_number = symbol(f"{name}@{self.forgotten_count}")
            if isinstance(last_value, PointerTarget) and variable.rank:
                moved = (*last_value.subscripts[:-1], unknown_number)
                self.outside.variable_values[name] = PointerTarget(last_value.base, moved)
            elif not variable.rank and not variable.element.is_floating_point:
                self.outside.variable_values[name] = unknown_number


def _is_new(node: c_ast.Decl) -> bool:
    """Whether a pointer is initialised with newly allocated memory."""
    initial_value: Any = node.init
    while isinstance(initial_value, c_ast.Cast):
        initial_value = initial_value.expr
    is_call = isinstance(initial_value, c_ast.FuncCall) and isinstance(initial_value.name, c_ast.ID)
    return is_call and initial_value.name.name in ALLOCATORS
