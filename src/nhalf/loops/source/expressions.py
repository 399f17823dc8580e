"""Expressions of C, evaluated with names for what is unknown: values, places and accesses."""

from typing import Any

from pycparser import c_ast

from nhalf.loops.source.memory import Memory
from nhalf.loops.source.polynomial import VARYING, Polynomial, integer, symbol
from nhalf.loops.source.refusal import refused
from nhalf.loops.source.values import Kind, PointerTarget, Value, ValueNode
from nhalf.loops.source.variables import literal, type_of

OPERATIONS: dict[str, Kind] = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
SQUARE_ROOTS = {"sqrt", "sqrtf"}
FUSED = {"fma", "fmaf"}
WITHOUT_SIGN = {"fabs", "fabsf"}
ALLOCATORS = {"malloc", "calloc", "aligned_alloc"}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
NONLINEAR = f"{VARYING}nonlinear "
"""Prefix of the names of results of %, /, >> or & on a counter."""
STEPS = {"++": 1, "p++": 1, "--": -1, "p--": -1}


class Expressions(Memory):
    """Evaluates expressions in the order in which C does."""

    def value(self, node: Any) -> Value:
        """Evaluate an expression; raises RefusedSource if it cannot be read."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise refused(node, f"{type(node).__name__} is not read here")
        value: Value = method(node)
        return value

    def integer(self, node: Any) -> Polynomial:
        """Evaluate an expression to an integer."""
        return self.as_integer(self.value(node), node)

    def floating_point(self, node: Any) -> ValueNode:
        """Evaluate an expression to a floating-point value."""
        return self.as_floating_point(self.value(node), node)

    # Leaves.

    def _constant(self, node: c_ast.Constant) -> Value:
        if node.type in {"float", "double", "long double"}:
            return self.values.leaf("invariant", node.value, False)
        if "int" in node.type:
            return integer(literal(node.value))
        if node.type == "char":
            return symbol(node.value)
        raise refused(node, "a text is not read here")

    def _id(self, node: c_ast.ID) -> Value:
        if node.name in self.variable_values:
            return self.variable_values[node.name]
        return self.initial(self.declared(node.name, node))

    # Places.

    def place(self, node: Any) -> PointerTarget:
        """The place that an expression designates: an element, or a row."""
        if isinstance(node, c_ast.ArrayRef):
            return self._pointer(node.name).moved(self._subscript(node.subscript))
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            return self._pointer(node.expr)
        if isinstance(node, c_ast.StructRef):
            raise refused(node, "members of structures are not read", "use arrays of numbers")
        raise refused(node, "this is no place that can be read or written")

    def _subscript(self, node: Any) -> Polynomial:
        """The subscript of an element; refused if it may come to the same element again."""
        plain_per_iteration = self.plain_per_iteration.copy()
        subscript = self.integer(node)
        self.plain_per_iteration = plain_per_iteration
        if any(symbol_name.startswith(NONLINEAR) for symbol_name in subscript.names):
            why = "a subscript that is no sum of counters may come to the same element again"
            raise refused(node, why, "count that with its own variable")
        return subscript

    def _pointer(self, node: Any) -> PointerTarget:
        pointer = self.value(node)
        if not isinstance(pointer, PointerTarget):
            raise refused(node, "what is subscripted is no array")
        return pointer

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
                result: Value = self.read(self.place(node), node)
            case "&":
                result = self.place(node.expr)
            case "sizeof":
                result = self.unknown(varies=False)
            case "!":
                self.condition(node.expr)
                result = self.unknown()
            case "+":
                result = self.value(node.expr)
            case "-":
                result = self._negated(node)
            case _:
                result = self._opaque(node.op, self.integer(node.expr))
        return result

    def _negated(self, node: c_ast.UnaryOp) -> Value:
        operand = self.value(node.expr)
        if isinstance(operand, Polynomial):
            return -operand
        return self.values.operation("negate", [self.as_floating_point(operand, node)], False)

    def _stepped(self, node: c_ast.UnaryOp) -> Value:
        before = self.value(node.expr)
        after = self.combined("+", before, integer(STEPS[node.op]), node)
        self.assign(node.expr, after, node)
        return before if node.op.startswith("p") else after

    def _binaryop(self, node: c_ast.BinaryOp) -> Value:
        if node.op in {"&&", "||"}:
            self.condition(node.left)
            with self.guarded():
                self.condition(node.right)
            return self.unknown()
        left_value, right_value = self.value(node.left), self.value(node.right)
        return self.combined(node.op, left_value, right_value, node)

    def combined(self, operator: str, left_value: Value, right_value: Value, node: Any) -> Value:
        """Apply a binary operator to two values."""
        if isinstance(left_value, PointerTarget) or isinstance(right_value, PointerTarget):
            return self._moved(operator, left_value, right_value, node)
        if operator in OPERATIONS and (
            isinstance(left_value, ValueNode) or isinstance(right_value, ValueNode)
        ):
            operands = [
                self.as_floating_point(left_value, node),
                self.as_floating_point(right_value, node),
            ]
            return self.values.operation(OPERATIONS[operator], operands, self.guards == 0)
        if isinstance(left_value, Polynomial) and isinstance(right_value, Polynomial):
            return self._integer_result(operator, left_value, right_value)
        self.count_plain("compare")
        for value in (left_value, right_value):
            if isinstance(value, ValueNode):
                self.values.use(value, self.guards == 0)
        return self.unknown()

    def _moved(self, operator: str, left_value: Value, right_value: Value, node: Any) -> Value:
        """A pointer that moves, or the distance between two."""
        match operator, left_value, right_value:
            case "+", Polynomial() as step, PointerTarget() as start:
                return start.moved(step)
            case "+", PointerTarget() as start, Polynomial() as step:
                return start.moved(step)
            case "-", PointerTarget() as start, Polynomial() as step:
                return start.moved(-step)
            case "-", PointerTarget() as end, PointerTarget() as start if end.base == start.base:
                return end.subscripts[-1] - start.subscripts[-1]
        if operator == "-" or operator in COMPARISONS:
            return self.unknown()
        raise refused(node, f"{operator} of a pointer is not read here")

    def _integer_result(
        self, operator: str, left_value: Polynomial, right_value: Polynomial
    ) -> Polynomial:
        if left_value.varies or right_value.varies:
            self.count_plain("integer")
        if operator == "+":
            return left_value + right_value
        if operator == "-":
            return left_value - right_value
        if operator == "*":
            return left_value * right_value
        dividend, divisor = left_value.constant, right_value.constant
        if (
            operator in {"/", "%"}
            and dividend is not None
            and divisor
            and dividend >= 0
            and divisor > 0
        ):
            return integer(dividend // divisor if operator == "/" else dividend % divisor)
        if operator == "<<" and divisor is not None and 0 <= divisor < 64:
            return left_value * integer(2**divisor)
        return self._opaque(operator, left_value, right_value)

    def _opaque(self, operator: str, *operands: Polynomial) -> Polynomial:
        varies = any(operand.varies for operand in operands)
        is_of_data = any(
            symbol_name.startswith(VARYING) for operand in operands for symbol_name in operand.names
        )
        kind = (VARYING if is_of_data else NONLINEAR) if varies else ""
        inside = ",".join(operand.key for operand in operands)
        return symbol(f"{kind}{operator}({inside})")

    def distance_to_end(self, node: Any) -> Value:
        """The distance of a loop condition from its end, where it is 0."""
        if isinstance(node, c_ast.BinaryOp) and node.op in COMPARISONS - {"=="}:
            left_value, right_value = self.value(node.left), self.value(node.right)
            return self.combined("-", left_value, right_value, node)
        return self.value(node)

    def condition(self, node: Any) -> None:
        """Evaluate a condition; the values that it compares are needed."""
        value = self.value(node)
        if isinstance(value, ValueNode):
            self.values.use(value, self.guards == 0)

    def _assignment(self, node: c_ast.Assignment) -> Value:
        value = self.value(node.rvalue)
        if node.op != "=":
            value = self.combined(node.op[:-1], self.value(node.lvalue), value, node)
        self.assign(node.lvalue, value, node)
        return value

    def assign(self, target: Any, value: Value, node: Any) -> None:
        """Assign a value to a variable or an element."""
        if not isinstance(target, c_ast.ID):
            self.write(self.place(target), value, node)
            return
        variable = self.declared(target.name, node)
        if variable.rank and not isinstance(value, PointerTarget):
            self.variable_values[variable.name] = PointerTarget(variable.name, (Polynomial(),))
        elif variable.rank:
            self.variable_values[variable.name] = value
        elif variable.element.is_floating_point:
            self.variable_values[variable.name] = self.as_floating_point(value, node)
        else:
            self.variable_values[variable.name] = self.as_integer(value, node)

    def _ternaryop(self, node: c_ast.TernaryOp) -> Value:
        self.condition(node.cond)
        with self.guarded():
            if_true, if_false = self.value(node.iftrue), self.value(node.iffalse)
        return self.either(if_true, if_false, node)

    def either(self, first: Value, second: Value, node: Any) -> Value:
        """The value that is one of two, unknown which."""
        if first == second:
            return first
        if isinstance(first, PointerTarget) or isinstance(second, PointerTarget):
            raise refused(node, "a pointer that points to one array or another")
        if isinstance(first, Polynomial) and isinstance(second, Polynomial):
            return self.unknown()
        alternatives = [self.as_floating_point(first, node), self.as_floating_point(second, node)]
        self.values.roots += alternatives
        self.unknowns += 1
        return self.values.leaf("select", str(self.unknowns), True)

    def _cast(self, node: c_ast.Cast) -> Value:
        element, _, levels = type_of(node.to_type, self.types)
        if levels:
            return self.value(node.expr)
        read = self.floating_point if element.is_floating_point else self.integer
        return read(node.expr)

    def _exprlist(self, node: c_ast.ExprList) -> Value:
        return [self.value(expression) for expression in node.exprs][-1]

    def _funccall(self, node: c_ast.FuncCall) -> Value:
        function = node.name.name if isinstance(node.name, c_ast.ID) else "a function"
        arguments = node.args.exprs if node.args else []
        if function in SQUARE_ROOTS and len(arguments) == 1:
            return self.values.operation(
                "square_root", [self.floating_point(arguments[0])], not self.guards
            )
        if function in FUSED and len(arguments) == 3:
            operands = [self.floating_point(argument) for argument in arguments]
            return self.values.operation("fused_multiply_add", operands, not self.guards)
        if function in WITHOUT_SIGN and len(arguments) == 1:
            return self.values.operation("absolute", [self.floating_point(arguments[0])], False)
        raise refused(node, f"{function} is called, and what that takes is unknown")
