"""What of a program's tree does not depend on numbers: functions, who calls MPI, what steers it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pycparser import c_ast

from nhalf.loops.source.iteration import LOOPS, below, changed_names
from nhalf.loops.source.variables import Types, Variable, type_of, variable

QUIET = frozenset(
    (
        *("MPI_Init", "MPI_Init_thread", "MPI_Initialized", "MPI_Finalize", "MPI_Finalized"),
        *("MPI_Comm_rank", "MPI_Comm_size", "MPI_Wtime", "MPI_Wtick", "MPI_Get_processor_name"),
        *("MPI_Comm_set_errhandler", "MPI_Type_size", "MPI_Type_commit", "MPI_Type_free"),
        *("MPI_Get_count", "MPI_Error_string", "MPI_Comm_free", "MPI_Get_version"),
        *("MPI_Type_contiguous", "MPI_Type_vector", "MPI_Type_create_hvector"),
        *("MPI_Type_create_resized", "MPI_Type_create_subarray", "MPI_Dims_create"),
        *("MPI_Comm_split", "MPI_Comm_dup", "MPI_Cart_create", "MPI_Cart_sub"),
        *("MPI_Cart_shift", "MPI_Cart_coords", "MPI_Cart_rank"),
    )
)
"""Calls that send nothing."""
RECEIVED_INTO = {
    **dict.fromkeys(("MPI_Recv", "MPI_Irecv", "MPI_Bcast", "MPI_Sendrecv_replace"), 0),
    **dict.fromkeys(("MPI_Reduce", "MPI_Allreduce", "MPI_Scan", "MPI_Exscan"), 1),
    **dict.fromkeys(("MPI_Reduce_scatter_block",), 1),
    **dict.fromkeys(("MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall"), 3),
    **dict.fromkeys(("MPI_Gatherv", "MPI_Allgatherv"), 3),
    **dict.fromkeys(("MPI_Scatterv", "MPI_Alltoallv"), 4),
    "MPI_Sendrecv": 5,
}
"""The place of the buffer that a call writes, whose numbers are not known any more."""
STEERED = (*LOOPS, c_ast.FuncCall, c_ast.Break, c_ast.Continue, c_ast.Return, c_ast.Goto)
"""What a branch decides, but for what it assigns."""
ENDS = frozenset(("exit", "abort", "_Exit", "MPI_Abort"))


def path_of(node: Any) -> str:
    """The variable that an expression names, 'grid.width' of a member; '' if there is none.

    Of an element, and of what an address leads to, it is that of the array or address.
    """
    while isinstance(node, (c_ast.ArrayRef, c_ast.UnaryOp, c_ast.Cast)):
        node = node.name if isinstance(node, c_ast.ArrayRef) else node.expr
    if isinstance(node, c_ast.StructRef):
        owner = path_of(node.name)
        is_element = any(isinstance(part, c_ast.ArrayRef) for part in below(node.name))
        return owner if is_element or not owner else f"{owner}.{node.field.name}"
    return str(node.name) if isinstance(node, c_ast.ID) else ""


def names_in(node: Any) -> set[str]:
    """The names of variables in an expression, members among them by their paths."""
    if node is None:
        return set()
    if isinstance(node, c_ast.StructRef):
        path, inner = path_of(node), names_in(node.name)
        return {path, *inner - {path.split(".")[0]}} if path else inner
    names = {str(node.name)} if isinstance(node, c_ast.ID) else set[str]()
    return names.union(*(names_in(child) for _, child in node.children()))


def touch(first_names: Iterable[str], second_names: Collection[str]) -> bool:
    """Whether some names are of the same variable, or one of a structure and one of its member."""
    owners = {name.split(".")[0] for name in second_names if "." in name}
    return any(
        name in second_names
        or name in owners
        or ("." in name and name.split(".")[0] in second_names)
        for name in first_names
    )


def called(node: c_ast.FuncCall) -> str:
    """The name of a called function, '' for a pointer to one."""
    return str(node.name.name) if isinstance(node.name, c_ast.ID) else ""


def arguments(node: c_ast.FuncCall) -> list[Any]:
    """The arguments of a call."""
    return list(node.args.exprs) if node.args else []


@dataclass(frozen=True)
class Counter:
    """A loop that counts: `for (name = begin; name sign limit; name += step)`."""

    name: str
    begin: Any
    sign: str
    limit: Any
    step: Any
    grows: bool


@dataclass(eq=False)
class SourceFunction:
    """A function with its parameters, and the types of all names in it."""

    name: str
    node: c_ast.FuncDef
    parameters: list[str]
    variables: dict[str, Variable]
    changed_in_loops: frozenset[str]


@dataclass(eq=False)
class Structure:
    """The functions of a file, and answers about parts of its tree, which are kept by part."""

    functions: dict[str, SourceFunction]
    variables: dict[str, Variable]
    types: Types
    array_members: frozenset[str] = frozenset()
    """The names of members of structures that are arrays."""
    _talks: dict[Any, bool] = field(default_factory=dict)
    _has_loops: dict[Any, bool] = field(default_factory=dict)
    _steering: dict[Any, frozenset[str]] = field(default_factory=dict)
    _names: dict[Any, list[str]] = field(default_factory=dict)
    _changed: dict[Any, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: c_ast.FileAST) -> Structure:
        """The structure of a file's tree."""
        types: Types = {}
        variables: dict[str, Variable] = {}
        functions: dict[str, SourceFunction] = {}
        for part in tree.ext:
            for own in below(part):
                if isinstance(own, c_ast.Struct) and own.decls:
                    types[f"struct {own.name}"] = type_of(own, types)
            if isinstance(part, c_ast.Typedef):
                types[part.name] = type_of(part, types)
            elif isinstance(part, c_ast.FuncDef):
                functions[part.decl.name] = _function(part, types)
            elif _declares(part):
                variables[part.name] = variable(part, types, "global")
        members = (part for part in below(tree) if isinstance(part, c_ast.Struct) and part.decls)
        declared = (own for part in members for own in part.decls)
        arrays = frozenset(own.name for own in declared if isinstance(own.type, c_ast.ArrayDecl))
        return cls(functions, variables, types, arrays)

    def talks(self, node: Any) -> bool:
        """Whether there is a call in a part, or in a function called there, that sends."""
        if node not in self._talks:
            self._talks[node] = False  # for functions that call themselves
            self._talks[node] = any(
                self._sends(part) for part in below(node) if isinstance(part, c_ast.FuncCall)
            )
        return self._talks[node]

    def _sends(self, call: c_ast.FuncCall) -> bool:
        name = called(call)
        if name in self.functions:
            return self.talks(self.functions[name].node)
        return name.startswith("MPI_") and name not in QUIET and name not in ENDS

    def has_loops(self, node: Any) -> bool:
        """Whether there is a loop in a part, or in a function called there."""
        if node not in self._has_loops:
            self._has_loops[node] = any(isinstance(part, LOOPS) for part in self.with_called(node))
        return self._has_loops[node]

    def with_called(self, node: Any, within: frozenset[str] = frozenset()) -> Iterator[Any]:
        """All below a node, and below the functions that are called there."""
        for part in below(node):
            yield part
            name = called(part) if isinstance(part, c_ast.FuncCall) else ""
            if name in self.functions and name not in within:
                yield from self.with_called(self.functions[name].node.body, within | {name})

    def names(self, node: Any) -> list[str]:
        """The names that a part reads or writes, with those in functions called there."""
        if node not in self._names:
            kinds = (c_ast.ID, c_ast.StructRef)
            parts = (path_of(part) for part in self.with_called(node) if isinstance(part, kinds))
            self._names[node] = sorted(set(parts) - {""})
        return self._names[node]

    def changed(self, node: Any) -> list[str]:
        """The names of variables that a part assigns, elements and called functions included."""
        if node not in self._changed:
            own = dict.fromkeys(changed_names(node))
            for part in self.with_called(node):
                if isinstance(part, c_ast.Assignment):
                    own[path_of(part.lvalue)] = None
                elif isinstance(part, c_ast.UnaryOp) and part.op in {"++", "--", "p++", "p--", "&"}:
                    own[path_of(part.expr)] = None
            self._changed[node] = [name for name in own if name]
        return self._changed[node]

    def steering(self, node: Any) -> frozenset[str]:
        """The names that decide what a part does: how often loops run, branches, messages."""
        if node not in self._steering:
            parts = list(self.with_called(node))
            names = set[str]().union(*(map(self._direct, parts)))
            sources = [source for part in parts if (source := _whole_source(part))]
            choices = (part for part in parts if isinstance(part, c_ast.If))
            sources += [
                (own, names_in(part.cond)) for part in choices for own in self.changed(part)
            ]
            while more := [
                own for target, own in sources if touch([target], names) and not own <= names
            ]:
                names = names.union(*more)
            self._steering[node] = frozenset(names)
        return self._steering[node]

    def _direct(self, part: Any) -> set[str]:
        if isinstance(part, c_ast.For):
            return names_in(part.init) | names_in(part.cond) | names_in(part.next)
        is_choice = isinstance(part, c_ast.If)
        if isinstance(part, (c_ast.While, c_ast.DoWhile, c_ast.Switch)) or (
            is_choice and any(isinstance(own, STEERED) for own in below(part))
        ):
            return names_in(part.cond)
        if not isinstance(part, c_ast.FuncCall):
            return set()
        name = called(part)
        if name in self.functions:
            return set[str]().union(*map(names_in, arguments(part)))
        if name.startswith("MPI_"):
            buffers = {0, RECEIVED_INTO.get(name, 0)}
            chosen = [own for at, own in enumerate(arguments(part)) if at not in buffers]
            return set[str]().union(*map(names_in, chosen))
        return set()

    def counter(self, loop: Any) -> Counter | None:
        """How a loop counts; None if it is no plain count whose limit its body leaves alone."""
        condition = loop.cond
        if not isinstance(loop, c_ast.For) or not isinstance(condition, c_ast.BinaryOp):
            return None
        name, grows, step = _step(loop.next)
        begin = _begin(loop.init, name)
        is_plain = isinstance(condition.left, c_ast.ID) and condition.left.name == name
        signs = {"<", "<="} if grows else {">", ">="}
        if not is_plain or begin is None or condition.op not in signs:
            return None
        fixed = names_in(begin) | names_in(condition.right) | names_in(step)
        is_free = not touch(fixed, [*self.changed(loop.stmt), name])
        is_free = is_free or (isinstance(begin, c_ast.ID) and begin.name == name)
        if not is_free or name in self.changed(loop.stmt):
            return None
        return Counter(name, begin, condition.op, condition.right, step, grows)

    def carried(self, loop: Any) -> set[str]:
        """What an iteration takes over from the one before, but for what it sets first."""
        begun = set[str]()
        for part in below(loop.stmt):
            if isinstance(part, c_ast.For):
                begun |= set(changed_names(part.init)) if part.init else set()
            elif isinstance(part, c_ast.Decl) and part.name and part.init is not None:
                begun.add(part.name)
        parts = [loop.stmt, *([loop.next] if isinstance(loop, c_ast.For) and loop.next else [])]
        return {name for part in parts for name in self.changed(part)} - begun


def _whole_source(part: Any) -> tuple[str, set[str]] | None:
    """What an assigned variable is made of."""
    if isinstance(part, c_ast.Assignment):
        target = path_of(part.lvalue)
        return (target, names_in(part.rvalue)) if target else None
    if isinstance(part, c_ast.Decl) and part.init is not None:
        return part.name, names_in(part.init)
    return None


def _step(node: Any) -> tuple[str, bool, Any]:
    """Which variable a loop steps, whether upwards, and by how much; '' if it does not."""
    if isinstance(node, c_ast.UnaryOp) and isinstance(node.expr, c_ast.ID):
        return node.expr.name, "+" in node.op, c_ast.Constant("int", "1")
    is_step = isinstance(node, c_ast.Assignment) and node.op in {"+=", "-="}
    if is_step and isinstance(node.lvalue, c_ast.ID):
        return node.lvalue.name, node.op == "+=", node.rvalue
    return "", True, None


def _begin(node: Any, name: str) -> Any:
    """What a loop's variable is at first."""
    if isinstance(node, c_ast.DeclList):
        return next((part.init for part in node.decls if part.name == name), None)
    is_own = isinstance(node, c_ast.Assignment) and path_of(node.lvalue) == name
    return node.rvalue if is_own else c_ast.ID(name) if node is None else None


def _function(node: c_ast.FuncDef, types: Types) -> SourceFunction:
    declared = node.decl.type.args
    parameters = [part for part in (declared.params if declared else ()) if part.name]
    variables = {part.name: variable(part, types, "parameter") for part in parameters}
    changed = set[str]()
    for part in below(node.body):
        if _declares(part):
            variables[part.name] = variable(part, types, "local")
        elif isinstance(part, LOOPS):
            changed |= set(changed_names(part))
    names = [part.name for part in parameters]
    return SourceFunction(node.decl.name, node, names, variables, frozenset(changed))


def _declares(part: Any) -> bool:
    is_named = isinstance(part, c_ast.Decl) and part.name
    return bool(is_named) and not isinstance(part.type, c_ast.FuncDecl)
