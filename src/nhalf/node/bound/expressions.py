# SPDX-License-Identifier: Apache-2.0
"""Expressions of C, evaluated with names for what is unknown: values, places and accesses."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from nhalf.node.bound.memory import Memory
from nhalf.node.bound.polynomial import VARYING, Polynomial, name, whole
from nhalf.node.bound.refusal import refused
from nhalf.node.bound.values import Kind, Node, Place, Value
from nhalf.node.bound.variables import literal, type_of

OPERATIONS: dict[str, Kind] = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
SQUARE_ROOTS = {"sqrt", "sqrtf"}
FUSED = {"fma", "fmaf"}
WITHOUT_SIGN = {"fabs", "fabsf"}
ALLOCATORS = {"malloc", "calloc", "aligned_alloc"}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
BENT = f"{VARYING}bent "
"""What the name of a number begins with that %, /, >> or & make of a counter."""
STEPS = {"++": 1, "p++": 1, "--": -1, "p--": -1}


class Expressions(Memory):
    """Evaluates expressions in the order in which C does."""

    def value(self, node: Any) -> Value:
        """The value of an expression; raises Refused for what cannot be read."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise refused(node, f"{type(node).__name__} is not read here")
        found: Value = method(node)
        return found

    def integer(self, node: Any) -> Polynomial:
        """The whole number that an expression is."""
        return self.as_whole(self.value(node), node)

    def real(self, node: Any) -> Node:
        """The real number that an expression is."""
        return self.as_real(self.value(node), node)

    # Leaves.

    def _constant(self, node: c_ast.Constant) -> Value:
        if node.type in {"float", "double", "long double"}:
            return self.values.leaf("invariant", node.value, False)
        if "int" in node.type:
            return whole(literal(node.value))
        if node.type == "char":
            return name(node.value)
        raise refused(node, "a text is not read here")

    def _id(self, node: c_ast.ID) -> Value:
        if node.name in self.known:
            return self.known[node.name]
        return self.initial(self.of(node.name, node))

    # Places.

    def place(self, node: Any) -> Place:
        """The place that an expression names: an element, or a row."""
        if isinstance(node, c_ast.ArrayRef):
            return self._pointer(node.name).moved(self._subscript(node.subscript))
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return self._pointer(node.expr)
        if isinstance(node, c_ast.StructRef):
            raise refused(node, "members of structures are not read", "use arrays of numbers")
        raise refused(node, "this is no place that can be read or written")

    def _subscript(self, node: Any) -> Polynomial:
        """The number of an element; refused where only arithmetic tells which ones come again."""
        found = self.integer(node)
        if any(one.startswith(BENT) for one in found.names):
            why = "a subscript that is no sum of counters may come to the same element again"
            raise refused(node, why, "count that with its own variable")
        return found

    def _pointer(self, node: Any) -> Place:
        found = self.value(node)
        if not isinstance(found, Place):
            raise refused(node, "what is subscripted is no array")
        return found

    def _arrayref(self, node: Any) -> Value:
        return self.read(self.place(node), node)

    def _structref(self, node: Any) -> Value:
        return self.read(self.place(node), node)

    # Operations.

    def _unaryop(self, node: c_ast.UnaryOp) -> Value:
        if node.op in STEPS:
            return self._stepped(node)
        match node.op:
            case "*":
                found: Value = self.read(self.place(node), node)
            case "&":
                found = self.place(node.expr)
            case "sizeof":
                found = self.unknown(varies=False)
            case "!":
                self.decided(node.expr)
                found = self.unknown()
            case "+":
                found = self.value(node.expr)
            case "-":
                found = self._negated(node)
            case _:
                found = self._opaque(node.op, self.integer(node.expr))
        return found

    def _negated(self, node: c_ast.UnaryOp) -> Value:
        found = self.value(node.expr)
        if isinstance(found, Polynomial):
            return -found
        return self.values.operation("negate", [self.as_real(found, node)], False)

    def _stepped(self, node: c_ast.UnaryOp) -> Value:
        before = self.value(node.expr)
        after = self.combined("+", before, whole(STEPS[node.op]), node)
        self.assign(node.expr, after, node)
        return before if node.op.startswith("p") else after

    def _binaryop(self, node: c_ast.BinaryOp) -> Value:
        if node.op in {"&&", "||"}:
            self.decided(node.left)
            with self.guarded():
                self.decided(node.right)
            return self.unknown()
        left, right = self.value(node.left), self.value(node.right)
        return self.combined(node.op, left, right, node)

    def combined(self, operator: str, left: Value, right: Value, node: Any) -> Value:
        """What an operator makes of two values."""
        if isinstance(left, Place) or isinstance(right, Place):
            return self._moved(operator, left, right, node)
        if operator in OPERATIONS and (isinstance(left, Node) or isinstance(right, Node)):
            both = [self.as_real(left, node), self.as_real(right, node)]
            return self.values.operation(OPERATIONS[operator], both, self.guards == 0)
        if isinstance(left, Polynomial) and isinstance(right, Polynomial):
            return self._whole_numbers(operator, left, right)
        self.values.roots += [one for one in (left, right) if isinstance(one, Node)]
        return self.unknown()

    def _moved(self, operator: str, left: Value, right: Value, node: Any) -> Value:
        if operator == "+" and isinstance(right, Place) and isinstance(left, Polynomial):
            return right.moved(left)
        if operator in {"+", "-"} and isinstance(left, Place) and isinstance(right, Polynomial):
            return left.moved(right if operator == "+" else -right)
        if operator == "-":
            return self._distance(left, right)
        if operator in COMPARISONS:
            return self.unknown()
        raise refused(node, f"{operator} of a pointer is not read here")

    def _distance(self, left: Value, right: Value) -> Polynomial:
        """What pointers are apart."""
        if isinstance(left, Place) and isinstance(right, Place) and left.base == right.base:
            return left.subscripts[-1] - right.subscripts[-1]
        return self.unknown()

    def _whole_numbers(self, operator: str, left: Polynomial, right: Polynomial) -> Polynomial:
        if operator == "+":
            return left + right
        if operator == "-":
            return left - right
        if operator == "*":
            return left * right
        a, b = left.constant, right.constant
        if operator in {"/", "%"} and a is not None and b and a >= 0 and b > 0:
            return whole(a // b if operator == "/" else a % b)
        if operator == "<<" and b is not None and 0 <= b < 64:
            return left * whole(2**b)
        return self._opaque(operator, left, right)

    def _opaque(self, operator: str, *operands: Polynomial) -> Polynomial:
        varies = any(one.varies for one in operands)
        is_of_data = any(one.startswith(VARYING) for each in operands for one in each.names)
        kind = (VARYING if is_of_data else BENT) if varies else ""
        inside = ",".join(one.key for one in operands)
        return name(f"{kind}{operator}({inside})")

    def left_over(self, node: Any) -> Value:
        """How far a condition of a loop is from its end: 0 if it turns."""
        if isinstance(node, c_ast.BinaryOp) and node.op in COMPARISONS - {"=="}:
            left, right = self.value(node.left), self.value(node.right)
            return self.combined("-", left, right, node)
        return self.value(node)

    def decided(self, node: Any) -> None:
        """A condition: what it compares is needed."""
        found = self.value(node)
        if isinstance(found, Node):
            self.values.roots.append(found)

    def _assignment(self, node: c_ast.Assignment) -> Value:
        given = self.value(node.rvalue)
        if node.op != "=":
            given = self.combined(node.op[:-1], self.value(node.lvalue), given, node)
        self.assign(node.lvalue, given, node)
        return given

    def assign(self, target: Any, given: Value, node: Any) -> None:
        """A variable or an element gets a value."""
        if not isinstance(target, c_ast.ID):
            self.write(self.place(target), given, node)
            return
        of = self.of(target.name, node)
        if of.rank and not isinstance(given, Place):
            self.known[of.name] = Place(of.name, (Polynomial(),))
        elif of.rank:
            self.known[of.name] = given
        elif of.element.is_real:
            self.known[of.name] = self.as_real(given, node)
        else:
            self.known[of.name] = self.as_whole(given, node)

    def _ternaryop(self, node: c_ast.TernaryOp) -> Value:
        self.decided(node.cond)
        with self.guarded():
            one, other = self.value(node.iftrue), self.value(node.iffalse)
        return self.either(one, other, node)

    def either(self, one: Value, other: Value, node: Any) -> Value:
        """One of two values; which, is unknown."""
        if one == other:
            return one
        if isinstance(one, Place) or isinstance(other, Place):
            raise refused(node, "a pointer that points to one array or another")
        if isinstance(one, Polynomial) and isinstance(other, Polynomial):
            return self.unknown()
        both = [self.as_real(one, node), self.as_real(other, node)]
        self.values.roots += both
        self.unknowns += 1
        return self.values.leaf("select", str(self.unknowns), True)

    def _cast(self, node: c_ast.Cast) -> Value:
        element, _, levels = type_of(node.to_type, self.types)
        if levels:
            return self.value(node.expr)
        return self.real(node.expr) if element.is_real else self.integer(node.expr)

    def _exprlist(self, node: c_ast.ExprList) -> Value:
        return [self.value(one) for one in node.exprs][-1]

    def _funccall(self, node: c_ast.FuncCall) -> Value:
        called = node.name.name if isinstance(node.name, c_ast.ID) else "a function"
        given = node.args.exprs if node.args else []
        if called in SQUARE_ROOTS and len(given) == 1:
            return self.values.operation("square_root", [self.real(given[0])], not self.guards)
        if called in FUSED and len(given) == 3:
            three = [self.real(one) for one in given]
            return self.values.operation("fused_multiply_add", three, not self.guards)
        if called in WITHOUT_SIGN and len(given) == 1:
            return self.values.operation("same", [self.real(given[0])], False)
        raise refused(node, f"{called} is called, and what that takes is unknown")
