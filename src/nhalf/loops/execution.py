"""Run the functions of a user's file on generated data: count each loop, then time it.

Programs around a user's function: they count iterations, take times, or record a trace.

Parameters of the function have the values that the user set; arrays are filled with ones.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from nhalf.base import native_files
from nhalf.base.errors import FailedError
from nhalf.base.launch.survivor import Survivor
from nhalf.base.processes import run
from nhalf.loops.builds import Build
from nhalf.loops.rungs import listing
from nhalf.loops.samples import SAMPLES, SECONDS, loop_time
from nhalf.loops.schedule.executed import assembled, followed
from nhalf.loops.source.counts import LoopCounts
from nhalf.loops.source.iteration import LOOPS, below
from nhalf.loops.source.refusal import line_of
from nhalf.loops.source.source import parsed
from nhalf.loops.source.variables import Types, Variable, type_of, variable
from nhalf.machines.processor import Processor

BUFFER_BYTES_MAX = 1 << 28
COUNTER = "nhalf_iterations"


def timing_text(path: Path, loop: LoopCounts, numbers: Mapping[str, int]) -> str:
    """A program that prints the samples of a function as JSON."""
    call = "print_samples(nhalf_pass, 0, nhalf_fill, atoi(words[1]), atof(words[2]))"
    return _program_text(path, loop, numbers, "samples.h", call)


def following_text(path: Path, loop: LoopCounts, numbers: Mapping[str, int]) -> str:
    """A program that writes the trace of a function, and prints its number of passes."""
    return _program_text(
        path, loop, numbers, "trace.h", "trace_pass(nhalf_pass, 0, nhalf_fill, words[1])"
    )


def functions_of(path: Path) -> set[str]:
    """The functions that a file defines, except `main`, which is the driver's."""
    defined = {
        definition.decl.name
        for definition in parsed(path).ext
        if isinstance(definition, c_ast.FuncDef)
    }
    return defined - {"main"}


def counting_text(path: Path, loop: LoopCounts, numbers: Mapping[str, int]) -> str:
    """A program that prints how many iterations the innermost loop of a function runs."""
    tree = parsed(path)
    around = _harness(tree, loop, numbers)
    _insert_counter(tree, loop)
    head = (
        f"static long {COUNTER};\n#define main nhalf_main\n{CGenerator().visit(tree)}#undef main\n"
    )
    main = (
        "int main(void) {\n  nhalf_allocate();\n  nhalf_fill();\n"
        f"  {COUNTER} = 0;\n  nhalf_pass(0);\n"
        f'  __builtin_printf("{{\\"iterations\\":%ld}}\\n", {COUNTER});\n  return 0;\n}}\n'
    )
    return head + around + main


def _program_text(
    path: Path, loop: LoopCounts, numbers: Mapping[str, int], header: str, call: str
) -> str:
    """A program of the file, the data of its function, and a main that evaluates `call`."""
    return (
        f'#define main nhalf_main\n#include "{path.absolute()}"\n#undef main\n'
        f'#include "node/livermore/{header}"\n'
        f"{_harness(parsed(path), loop, numbers)}"
        "int main(int count, char** words) {\n  nhalf_allocate();\n"
        f'  printf("{{");\n  {call};\n  return 0;\n}}\n'
    )


def _insert_counter(tree: c_ast.FileAST, loop: LoopCounts) -> None:
    for node in below(tree):
        if isinstance(node, LOOPS) and line_of(node) == loop.line:
            inner_loops = [child for child in below(node.stmt) if isinstance(child, LOOPS)]
            if not inner_loops:
                step = c_ast.UnaryOp("p++", c_ast.ID(COUNTER))
                node.stmt = c_ast.Compound([step, node.stmt])


def _harness(tree: c_ast.FileAST, loop: LoopCounts, numbers: Mapping[str, int]) -> str:
    """C code: buffers for the parameters of the function, their data, and its call."""
    typedefs = (part for part in tree.ext if isinstance(part, c_ast.Typedef))
    types: Types = {typedef.name: type_of(typedef, {}) for typedef in typedefs}
    function = next(
        definition
        for definition in tree.ext
        if isinstance(definition, c_ast.FuncDef) and definition.decl.name == loop.function
    )
    arrays, arguments = [], []
    parameters = function.decl.type.args.params if function.decl.type.args else []
    for position, parameter in enumerate(parameters):
        if isinstance(parameter, c_ast.Decl) and parameter.name:
            declared = variable(parameter, types, "parameter")
            if declared.rank:
                arrays.append((f"nhalf_array_{position}", declared))
            arguments.append(
                f"nhalf_array_{position}" if declared.rank else _number(declared, numbers)
            )
    buffer_bytes = _buffer_bytes(numbers)
    fills = [
        _fill_text(name, buffer_bytes // array.element.size_bytes, array) for name, array in arrays
    ]
    fills += [_global_fill_text(array) for array in _globals(tree, types)]
    names = {part.name for part in tree.ext if isinstance(part, c_ast.Decl)}
    fills += [f"{name} = {value};" for name, value in numbers.items() if name in names]
    return (
        "".join(f"static char* {name};\n" for name, _ in arrays)
        + "static void nhalf_allocate(void) {"
        + "".join(f" {name} = __builtin_malloc({buffer_bytes});" for name, _ in arrays)
        + " }\nstatic void nhalf_fill(void) {\n  "
        + "\n  ".join(fills)
        + "\n}\nstatic void (*volatile nhalf_call)() = (void (*)())"
        + f"{loop.function};\nstatic void nhalf_pass(long none) {{\n"
        + f"  ((__typeof__({loop.function})*)nhalf_call)({', '.join(arguments)});\n}}\n"
    )


def _number(parameter: Variable, numbers: Mapping[str, int]) -> str:
    if parameter.element.is_floating_point:
        return str(float(numbers.get(parameter.name, 1)))
    if parameter.name not in numbers:
        raise FailedError(f"{parameter.name} is unknown: --set {parameter.name}=1000")
    return str(numbers[parameter.name])


def _buffer_bytes(numbers: Mapping[str, int]) -> int:
    """The size of a buffer: the square of the largest parameter, within a limit of memory."""
    largest = max([*map(abs, numbers.values()), 1024]) + 64
    return min(
        max(8 * largest, min(8 * largest * largest, BUFFER_BYTES_MAX)), 16 * BUFFER_BYTES_MAX
    )


def _fill_text(name: str, count: int, array: Variable) -> str:
    kind = {4: "float", 8: "double"} if array.element.is_floating_point else {4: "int", 8: "long"}
    word = kind.get(array.element.size_bytes, "char")
    return f"for (long i = 0; i < {count}; i++) (({word}*){name})[i] = 1;"


def _global_fill_text(array: Variable) -> str:
    size_bytes = array.element.size_bytes
    place = array.name if array.rank else f"&{array.name}"
    return _fill_text(place, 0, array).replace("i < 0", f"i < sizeof {array.name} / {size_bytes}")


def _globals(tree: c_ast.FileAST, types: Types) -> Iterator[Variable]:
    """Global floating-point arrays and numbers that are not constant."""
    for declaration in tree.ext:
        is_data = isinstance(declaration, c_ast.Decl) and not isinstance(
            declaration.type, c_ast.FuncDecl
        )
        if is_data and declaration.name and "const" not in declaration.quals:
            declared = variable(declaration, types, "global")
            if not declared.is_pointer and declared.element.is_floating_point:
                yield declared


COMPILE_TIMEOUT_S = 60.0
RUN_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Execution:
    """A file whose functions are run, with `numbers` for what they take.

    `iterations` are count_record once: how often each loop runs in a call, by its line.
    """

    path: Path
    numbers: Mapping[str, int] = field(default_factory=dict)
    iterations: dict[int, int] = field(default_factory=dict)


def cycles_of(execution: Execution, build: Build, loops: Sequence[LoopCounts]) -> dict[int, float]:
    """Cycles of an iteration by the line of its loop.

    Raises FailedError, with the reason, where something cannot be compiled or run, or a function
    has several innermost loops, since its time is that of all.
    """
    cycles_by_line = {}
    for loop in loops:
        _check_alone(loop, loops)
        iterations = _iterations(execution, build, loop)
        printed = json.loads(_output(build, timing_text(execution.path, loop, execution.numbers)))
        cycles_by_line[loop.line] = loop_time(printed, iterations).cycles_per_iteration
    return cycles_by_line


def followed_cycles(
    execution: Execution, build: Build, processor: Processor, loops: Sequence[LoopCounts]
) -> dict[int, float]:
    """Fewest cycles of an iteration by the line of its loop, from its executed instructions.

    Raises FailedError if `cycles_of` would, or if there are too many instructions.
    """
    cycles_by_line = {}
    include = native_files.include_folder()
    functions = functions_of(execution.path)
    for loop in loops:
        _check_alone(loop, loops)
        iterations = _iterations(execution, build, loop)
        with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-")) as name:
            folder = Path(name)
            source = folder / "driver.c"
            source.write_text(following_text(execution.path, loop, execution.numbers), "utf-8")
            flags = [*build.level, "-w", "-std=gnu11", f"-I{include}"]
            text = listing(build.compiler, flags, source)
            program = assembled(build, {"listing": text}, folder, functions=functions)
            cycles = followed([str(program)], text, processor, folder).pass_cycles
            cycles_by_line[loop.line] = cycles / iterations
    return cycles_by_line


def _check_alone(loop: LoopCounts, loops: Sequence[LoopCounts]) -> None:
    """Raise FailedError for a function whose time is that of several loops."""
    if sum(candidate.function == loop.function for candidate in loops) > 1:
        raise FailedError(f"{loop.function} has several loops: give each its own function")


def _iterations(execution: Execution, build: Build, loop: LoopCounts) -> int:
    """How many iterations a loop runs in a call."""
    if loop.line not in execution.iterations:
        text = counting_text(execution.path, loop, execution.numbers)
        count_record = json.loads(_output(Build(build.compiler, ("-O1",)), text))
        execution.iterations[loop.line] = count_record["iterations"]
    if not execution.iterations[loop.line]:
        raise FailedError(f"the loop of {loop.function} never runs: --set its length")
    return execution.iterations[loop.line]


def _output(build: Build, text: str) -> str:
    """The last line that a program prints; raises FailedError if it cannot be compiled or fails."""
    include = native_files.include_folder()
    with Survivor.own().holding(tempfile.TemporaryDirectory(prefix="nhalf-")) as folder:
        source, program = Path(folder, "driver.c"), Path(folder, "driver")
        source.write_text(text, "utf-8")
        words = [build.compiler, *build.level, "-w", "-std=gnu11", f"-I{include}", str(source)]
        outcome = run([*words, "-lm", "-o", str(program)], COMPILE_TIMEOUT_S)
        if not outcome.succeeded:
            raise FailedError(f"it cannot be linked: {outcome.reason}")
        outcome = run([str(program), str(SAMPLES), str(SECONDS)], RUN_TIMEOUT_S)
        if not outcome.succeeded:
            raise FailedError(f"it fails with data of ours: {outcome.reason}")
        return outcome.stdout.splitlines()[-1]
