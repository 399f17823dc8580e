"""`nhalf bound`: the least time of the loops of a C file, and which unit limits them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError
from nhalf.base.request import REQUIRED, option, word
from nhalf.cli.lazy import lazily
from nhalf.cli.options import TableOptions
from nhalf.loops.source.refusal import RefusedSource
from nhalf.present.terminal.output import console, emit_json, print_lines, stdout_console

with lazily(globals()):
    from nhalf.loops.execution import Execution
    from nhalf.loops.file_ladders import Ladders, ladders
    from nhalf.loops.source.ma_bounds import Bound, bound
    from nhalf.loops.source.preprocessed import HeaderSearch
    from nhalf.loops.source.program import ReadingOptions, SourceProgram, read_program
    from nhalf.machines.processor import Processor
    from nhalf.node.described import described
    from nhalf.present.terminal.bounds import bounds_json, show_bounds, show_ladders

GROUP = "program"


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, heading="What"):
    """The file whose loops are bounded, and the processor."""

    file: Path = word(REQUIRED, "C source.", metavar="FILE.c")
    function: str = option("", "Only the loops of this function.")
    machine: str = option("power2", "Processor: power2, here (measured by nhalf node) or a file.")
    set_: tuple[str, ...] = option(
        (),
        "Value of a parameter, a global or an undeclared name: n=1000; repeatable.",
        metavar="NAME=VALUE",
    )
    no_alias: bool = option(False, "Assume that pointers of different names do not overlap.")
    include: tuple[Path, ...] = option(
        (), "Folder of headers; repeatable.", name="-I", metavar="FOLDER"
    )
    define: tuple[str, ...] = option(
        (), "Macro: N=1000; repeatable.", name="-D", metavar="NAME[=VALUE]"
    )
    run: bool = option(
        False, "Also run each function on generated data and compare its time (x86-64)."
    )
    quad_word: bool = option(False, "Count stride-one loads and stores half, as pairs of numbers.")


def command(request: Request) -> None:
    """Give a lower bound on the time of each inner loop of C source, by execution unit.

    nhalf bound kernel.c
    nhalf bound kernel.c --function triad --set n=1000 --json
    nhalf bound kernel.c -I include -D N=1000
    nhalf bound kernel.c --machine here
    nhalf bound kernel.c --machine here --set n=1000 --run
    """
    program = _program(request)
    processor = described(request.machine)
    bounds = [bound(loop, processor, request.quad_word or None) for loop in program.loops]
    ladders = _ladders(request, processor, bounds)
    if request.json:
        emit_json(bounds_json(request.file, processor, bounds, program.refusals, ladders))
    else:
        show_bounds(stdout_console(), processor, bounds)
        show_ladders(stdout_console(), ladders)
        _say_refused(request.file, program)


def _ladders(request: Request, processor: Processor, bounds: Sequence[Bound]) -> Ladders | None:
    """The ladders of the loops with the compilers here; None for any other processor."""
    from nhalf.node.described import HERE

    if request.machine != HERE:
        if request.run:
            raise InputError("loops are run here only", "ask with --machine here")
        return None
    execution = Execution(request.file, parse_numbers(request.set_)) if request.run else None
    return ladders(request.file, bounds, processor, execution)


def _program(request: Request) -> SourceProgram:
    """The loops of the file that can be read; raises InputError if there are none."""
    search = HeaderSearch(request.include, request.define)
    reading = ReadingOptions(
        request.function, parse_numbers(request.set_), request.no_alias, search
    )
    try:
        program = read_program(request.file, reading)
        if not program.loops:
            raise program.refusals[0]
    except RefusedSource as refusal:
        place = f"{request.file}:{refusal.line}" if refusal.line else f"{request.file}"
        raise InputError(f"{place}: {refusal.message}", refusal.remedy) from None
    return program


def parse_numbers(texts: tuple[str, ...]) -> dict[str, int]:
    """The values of --set by their names; raises InputError."""
    numbers = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            numbers[name.strip()] = int(value)
        except ValueError:
            equals = ""
        if not equals or not name.strip().isidentifier():
            raise InputError(f"--set {text} is not NAME=VALUE", "write --set n=1000")
    return numbers


def _say_refused(file: Path, program: SourceProgram) -> None:
    for refusal in program.refusals:
        print_lines(console(), f"{file}:{refusal.line}: not read: {refusal}")
