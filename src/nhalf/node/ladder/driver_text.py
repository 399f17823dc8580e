# SPDX-License-Identifier: Apache-2.0
"""Programs around a user's function: one counts how often its loop runs, one takes its time.

Numbers that the function takes are those that were given; arrays are filled with ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from nhalf.base.errors import FailedError
from nhalf.node.bound.counts import Counts
from nhalf.node.bound.iteration import LOOPS
from nhalf.node.bound.refusal import line_of
from nhalf.node.bound.source import parsed
from nhalf.node.bound.variables import Types, Variable, type_of, variable

ROOM_MAX = 1 << 28
COUNTER = "nhalf_iterations"


def timing_text(path: Path, loop: Counts, numbers: Mapping[str, int]) -> str:
    """A program that prints the samples of a function as JSON."""
    call = "print_samples(nhalf_pass, 0, nhalf_fill, atoi(words[1]), atof(words[2]))"
    return _measuring(path, loop, numbers, "samples.h", call)


def following_text(path: Path, loop: Counts, numbers: Mapping[str, int]) -> str:
    """A program that writes the records of a function, and prints how many passes these are."""
    return _measuring(
        path, loop, numbers, "trace.h", "trace_pass(nhalf_pass, 0, nhalf_fill, words[1])"
    )


def functions_of(path: Path) -> set[str]:
    """The functions that a file defines, but `main`, which is the driver's."""
    defined = {one.decl.name for one in parsed(path).ext if isinstance(one, c_ast.FuncDef)}
    return defined - {"main"}


def counting_text(path: Path, loop: Counts, numbers: Mapping[str, int]) -> str:
    """A program that prints how often the innermost loop of a function runs in a call."""
    tree = parsed(path)
    around = _around(tree, loop, numbers)
    _count(tree, loop)
    head = (
        f"static long {COUNTER};\n#define main nhalf_main\n{CGenerator().visit(tree)}#undef main\n"
    )
    main = (
        "int main(void) {\n  nhalf_room();\n  nhalf_fill();\n"
        f"  {COUNTER} = 0;\n  nhalf_pass(0);\n"
        f'  __builtin_printf("{{\\"iterations\\":%ld}}\\n", {COUNTER});\n  return 0;\n}}\n'
    )
    return head + around + main


def _measuring(path: Path, loop: Counts, numbers: Mapping[str, int], header: str, call: str) -> str:
    """The file, what its function needs, and a program that does no more than a call."""
    return (
        f'#define main nhalf_main\n#include "{path.absolute()}"\n#undef main\n'
        f'#include "node/livermore/{header}"\n'
        f"{_around(parsed(path), loop, numbers)}"
        "int main(int count, char** words) {\n  nhalf_room();\n"
        f'  printf("{{");\n  {call};\n  return 0;\n}}\n'
    )


def _count(tree: c_ast.FileAST, loop: Counts) -> None:
    """Put a counter into the loop."""
    for node in _below(tree):
        if isinstance(node, LOOPS) and line_of(node) == loop.line:
            inner = [one for one in _below(node.stmt) if isinstance(one, LOOPS)]
            if not inner:
                step = c_ast.UnaryOp("p++", c_ast.ID(COUNTER))
                node.stmt = c_ast.Compound([step, node.stmt])


def _around(tree: c_ast.FileAST, loop: Counts, numbers: Mapping[str, int]) -> str:
    """Room for what the function takes, data, and a call."""
    types: Types = {one.name: type_of(one, {}) for one in _typedefs(tree)}
    function = next(
        one for one in tree.ext if isinstance(one, c_ast.FuncDef) and one.decl.name == loop.function
    )
    arrays, words = [], []
    parameters = function.decl.type.args.params if function.decl.type.args else []
    for at, one in enumerate(parameters):
        if isinstance(one, c_ast.Decl) and one.name:
            known = variable(one, types, "parameter")
            if known.rank:
                arrays.append((f"nhalf_array_{at}", known))
            words.append(f"nhalf_array_{at}" if known.rank else _number(known, numbers))
    room = _room_bytes(numbers)
    filled = [_filled(name, room // one.element.size_bytes, one) for name, one in arrays]
    filled += [_global_filled(one) for one in _globals(tree, types)]
    filled += [f"{name} = {value};" for name, value in numbers.items() if _is_global(tree, name)]
    return (
        "".join(f"static char* {name};\n" for name, _ in arrays)
        + "static void nhalf_room(void) {"
        + "".join(f" {name} = __builtin_malloc({room});" for name, _ in arrays)
        + " }\nstatic void nhalf_fill(void) {\n  "
        + "\n  ".join(filled)
        + "\n}\nstatic void (*volatile nhalf_call)() = (void (*)())"
        + f"{loop.function};\nstatic void nhalf_pass(long none) {{\n"
        + f"  ((__typeof__({loop.function})*)nhalf_call)({', '.join(words)});\n}}\n"
    )


def _number(known: Variable, numbers: Mapping[str, int]) -> str:
    if known.element.is_real:
        return str(float(numbers.get(known.name, 1)))
    if known.name not in numbers:
        raise FailedError(f"{known.name} is unknown: --set {known.name}=1000")
    return str(numbers[known.name])


def _room_bytes(numbers: Mapping[str, int]) -> int:
    """Enough for a square of the largest number, as far as that is no more than memory has."""
    most = max([*map(abs, numbers.values()), 1024]) + 64
    return min(max(8 * most, min(8 * most * most, ROOM_MAX)), 16 * ROOM_MAX)


def _filled(name: str, count: int, of: Variable) -> str:
    kind = {4: "float", 8: "double"} if of.element.is_real else {4: "int", 8: "long"}
    word = kind.get(of.element.size_bytes, "char")
    return f"for (long i = 0; i < {count}; i++) (({word}*){name})[i] = 1;"


def _global_filled(of: Variable) -> str:
    size_bytes = of.element.size_bytes
    place = of.name if of.rank else f"&{of.name}"
    return _filled(place, 0, of).replace("i < 0", f"i < sizeof {of.name} / {size_bytes}")


def _globals(tree: c_ast.FileAST, types: Types) -> Iterator[Variable]:
    """Arrays and real numbers of the file itself, which it may write."""
    for one in tree.ext:
        is_data = isinstance(one, c_ast.Decl) and not isinstance(one.type, c_ast.FuncDecl)
        if is_data and one.name and "const" not in one.quals:
            known = variable(one, types, "global")
            if not known.is_pointer and known.element.is_real:
                yield known


def _is_global(tree: c_ast.FileAST, called: str) -> bool:
    return any(isinstance(one, c_ast.Decl) and one.name == called for one in tree.ext)


def _typedefs(tree: c_ast.FileAST) -> Iterator[c_ast.Typedef]:
    return (one for one in tree.ext if isinstance(one, c_ast.Typedef))


def _below(node: Any) -> Iterator[Any]:
    """A node and all below it."""
    yield node
    for _, child in node.children():
        yield from _below(child)
