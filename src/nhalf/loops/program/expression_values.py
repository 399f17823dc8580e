"""The value of an expression of C for one rank, where it is known."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pycparser import c_ast

from nhalf.loops.program.flattened import size_bytes
from nhalf.loops.program.numbers import (
    MATHEMATICS,
    Frame,
    Number,
    NumberPlace,
    Unknown,
    combined,
    signed,
    truncated,
)
from nhalf.loops.program.structure import Structure, arguments, called
from nhalf.loops.source.expressions import STEPS
from nhalf.loops.source.variables import SIZES_BYTES, Variable, literal, type_of

ALLOCATORS = ("malloc", "calloc", "realloc", "aligned_alloc", "alloca")
WHOLE_ARRAY_MAX = 4096
"""Elements that an initialiser does not name and that are known to be 0."""


class ExpressionValues:
    """Evaluates expressions in the frame of a function and that of the file.

    `call` does what is neither mathematics nor memory. What --set gives stays as it is.
    """

    def __init__(
        self,
        structure: Structure,
        set_numbers: dict[str, int],
        call: Callable[[c_ast.FuncCall], Number],
    ) -> None:
        self.structure, self._set_numbers, self._call = structure, set_numbers, call
        self.file = Frame("")
        self.frame = self.file
        self.variables: dict[str, Variable] = structure.variables
        self._allocated = 0
        main = structure.functions.get("main")
        self._outer = set(structure.variables) | set(main.variables if main else ())

    def is_given(self, name: str, frame: Frame) -> bool:
        """Whether --set says a variable: of the file and of main, else of any function."""
        is_here = name not in self._outer or frame.function in {"", "main"}
        return is_here and name in self._set_numbers

    def variable(self, name: str) -> Variable | None:
        """The variable of a name that can be seen here."""
        return self.variables.get(name) or self.structure.variables.get(name)

    def place_of(self, name: str) -> NumberPlace:
        """The place of a variable, or of a member by its path."""
        owner, _, members = name.partition(".")
        is_own = self.frame is self.file or owner in self.variables
        place = NumberPlace(self.frame if is_own else self.file, owner)
        for member in members.split(".") if members else ():
            target = place.read()
            place = (target if isinstance(target, NumberPlace) else place).member(member)
        return place

    def value(self, node: Any) -> Number:
        """The value of an expression; unknown for what is not understood."""
        evaluate = getattr(self, f"_{type(node).__name__}", None)
        return evaluate(node) if evaluate else Unknown("it")

    def write(self, node: Any, number: Number) -> None:
        """Assign to what an expression names."""
        place = self._target(node)
        if place is None:
            return
        owner = self.variable(place.name) if place.frame in {self.frame, self.file} else None
        if owner is not None and not owner.element.is_floating_point and owner.element.size_bytes:
            number = truncated(number) if not owner.levels or place.index else number
        if isinstance(number, Unknown):
            number = Unknown(place.name)
        if owner is not None and not owner.element.size_bytes:
            place.forget_members()
        if not self.is_given(place.name, place.frame) or place.index:
            place.write(number)

    def forget(self, names: list[str]) -> None:
        """Forget the numbers of variables and of elements, but for what --set says."""
        for name in names:
            place = self.place_of(name)
            target = place.read()
            if isinstance(target, NumberPlace):
                target.frame.elements.pop(target.name, None)
                target.forget_members()
            elif not self.is_given(name, place.frame):
                place.write(Unknown(name))
            place.frame.elements.pop(name, None)
            place.forget_members()

    def numbers(self, *nodes: Any) -> list[float | None]:
        """The values of expressions; None for those that are not known, and addresses."""
        values = map(self.value, nodes)
        return [number if isinstance(number, (int, float)) else None for number in values]

    def begin(self, name: str, number: Number | None) -> None:
        """Give a variable of this function its first number: that of --set, if there is one."""
        place = self.place_of(name)
        if self.is_given(name, place.frame):
            place.write(self._set_numbers[name])
            return
        place.write(Unknown(name))
        if number is not None:
            self.write(c_ast.ID(name), number)

    def declare(self, node: c_ast.Decl) -> None:
        """Give a variable its first number."""
        if isinstance(node.init, c_ast.InitList):
            values = [self.value(part) for part in node.init.exprs]
            owner = self.variable(node.name)
            length = self.value(owner.extents[0]) if owner and owner.extents else None
            if isinstance(length, int):  # The rest of an array is 0.
                values += [0] * min(length - len(values), WHOLE_ARRAY_MAX)
            for number, value in enumerate(values):
                NumberPlace(self.frame, node.name, (number,)).write(value)
        self.begin(node.name, self.value(node.init) if node.init is not None else None)

    def _target(self, node: Any) -> NumberPlace | None:
        if isinstance(node, c_ast.ID):
            return self.place_of(node.name)
        if isinstance(node, c_ast.ArrayRef):
            return self._element(node)
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            target = self.value(node.expr)
            return target if isinstance(target, NumberPlace) else None
        return self._member(node) if isinstance(node, c_ast.StructRef) else None

    def _member(self, node: c_ast.StructRef) -> NumberPlace | None:
        owner: Number | None = self.value(node.name)
        if node.type == "." and not isinstance(owner, NumberPlace):
            owner = self._target(node.name)
        return owner.member(node.field.name) if isinstance(owner, NumberPlace) else None

    def _element(self, node: c_ast.ArrayRef) -> NumberPlace | None:
        array, subscript = self.value(node.name), self.value(node.subscript)
        if not isinstance(array, NumberPlace) or not array.index or not isinstance(subscript, int):
            return None
        return array.moved(subscript)

    def _ID(self, node: c_ast.ID) -> Number:
        place, owner = self.place_of(node.name), self.variable(node.name)
        if owner is not None and owner.extents and not isinstance(place.read(), NumberPlace):
            return NumberPlace(place.frame, node.name, (0,))
        number = place.read()
        is_structure = owner is not None and not owner.rank and not owner.element.size_bytes
        return place if is_structure and isinstance(number, Unknown) else number

    def _Constant(self, node: c_ast.Constant) -> Number:
        if node.type == "string":
            return Unknown("a text")
        if node.type == "char":
            return ord(node.value[1]) if len(node.value) == 3 else Unknown("a letter")
        with suppress(ValueError):
            return literal(node.value)
        with suppress(ValueError):
            return float(node.value.rstrip("fFlL"))
        return Unknown(node.value)

    def _ArrayRef(self, node: c_ast.ArrayRef) -> Number:
        owner = node
        while isinstance(owner, c_ast.ArrayRef):
            owner = owner.name
        place = self._element(node)
        return place.read() if place else Unknown(getattr(owner, "name", "an element"))

    def _StructRef(self, node: c_ast.StructRef) -> Number:
        place = self._member(node)
        if place is None:
            return Unknown(node.field.name)
        if node.field.name in self.structure.array_members:
            return NumberPlace(place.frame, place.name, (0,))
        number = place.read()
        return Unknown(node.field.name) if isinstance(number, Unknown) else number

    def _Cast(self, node: c_ast.Cast) -> Number:
        number = self.value(node.expr)
        element, extents, levels = type_of(node.to_type, self.structure.types)
        is_address = extents or levels or not element.size_bytes
        if is_address or isinstance(number, (NumberPlace, Unknown)):
            return number
        return float(number) if element.is_floating_point else truncated(number)

    def _TernaryOp(self, node: c_ast.TernaryOp) -> Number:
        condition = self.value(node.cond)
        if isinstance(condition, Unknown):
            return condition
        return self.value(node.iftrue if condition else node.iffalse)

    def _BinaryOp(self, node: c_ast.BinaryOp) -> Number:
        if node.op in {"&&", "||"}:
            return self._logical(node)
        return combined(node.op, self.value(node.left), self.value(node.right))

    def _logical(self, node: c_ast.BinaryOp) -> Number:
        decides, unknown = node.op == "||", None
        for side in (node.left, node.right):
            number = self.value(side)
            if isinstance(number, Unknown):
                unknown = unknown or number
            elif bool(number) == decides:
                return int(decides)
        return unknown or int(not decides)

    def _UnaryOp(self, node: c_ast.UnaryOp) -> Number:
        if node.op == "sizeof":
            return self._size_bytes(node.expr)
        if node.op == "&":
            return self._target(node.expr) or Unknown("an address")
        number = self.value(node.expr)
        if node.op in STEPS:
            stepped = combined("+", number, STEPS[node.op])
            self.write(node.expr, stepped)
            return number if node.op.startswith("p") else stepped
        if node.op == "*":
            return number.read() if isinstance(number, NumberPlace) else Unknown("an address")
        return signed(node.op, number)

    def _size_bytes(self, node: Any) -> Number:
        if isinstance(node, c_ast.Typename):
            element, extents, levels = type_of(node, self.structure.types)
        else:
            owner = self.variable(node.name) if isinstance(node, c_ast.ID) else None
            if owner is None:
                return SIZES_BYTES["double"] if isinstance(node, c_ast.ArrayRef) else Unknown("it")
            element, extents, levels = owner.element, owner.extents, owner.levels
        size: Number = size_bytes(element, (), levels) or Unknown("the size of a structure")
        for extent in extents:
            size = combined("*", size, self.value(extent))
        return size

    def _Assignment(self, node: c_ast.Assignment) -> Number:
        number = self.value(node.rvalue)
        if node.op != "=":
            number = combined(node.op[:-1], self.value(node.lvalue), number)
        self.write(node.lvalue, number)
        return number

    def _ExprList(self, node: c_ast.ExprList) -> Number:
        return [self.value(part) for part in node.exprs][-1]

    def _FuncCall(self, node: c_ast.FuncCall) -> Number:
        name = called(node)
        if name in ALLOCATORS:
            self._allocated += 1
            return NumberPlace(self.file, f"{name} {self._allocated}", (0,))
        if name not in MATHEMATICS or name in self.structure.functions:
            return self._call(node)
        numbers = [self.value(argument) for argument in arguments(node)]
        for number in numbers:
            if isinstance(number, (Unknown, NumberPlace)):
                return number if isinstance(number, Unknown) else Unknown("an address")
        try:
            return MATHEMATICS[name](*numbers)
        except (ArithmeticError, ValueError, TypeError):
            return Unknown(name)
