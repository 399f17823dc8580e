"""`nhalf predict PROGRAM.c`: how long an MPI program takes on a machine, by its source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError
from nhalf.base.request import REQUIRED, option, word
from nhalf.cli.options import JsonOption
from nhalf.decide.engine_names import MODEL, SIMGRID

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nhalf.decide.estimate.estimate import Estimate
    from nhalf.decide.estimate.evaluation import SourceQuestion
    from nhalf.decide.program.target import Target
    from nhalf.facts.program.program import Program
    from nhalf.mpi import Library

NO_PROCESSOR = "none"
ENGINES = (MODEL, SIMGRID)


@dataclass(frozen=True, kw_only=True)
class Request(JsonOption, heading="What, and on which machine"):
    """The program, what its source leaves open, and the machine."""

    file: Path = word(REQUIRED, "C source of a whole program.", metavar="PROGRAM.c")
    machine: str = option("", "Machine of record (nhalf machines list), machine file or run.")
    ranks: int = option(2, "Number of ranks.", least=1)
    set_: tuple[str, ...] = option(
        (),
        "Value of a variable or macro, n=1000, or how often the loop of a line runs, line42=100; "
        "repeatable.",
        metavar="NAME=VALUE",
    )
    processor: str = option(
        "",
        "What computes the loops: power2, here (measured by nhalf node), a file, or none for "
        "messages alone; default: that of the machine.",
    )
    mpi: str = option("", "MPI library that is asked for its operations, e.g. mpich.")
    engine: str = option(
        MODEL, "Who moves the messages: model (the network of nhalf try), or simgrid."
    )
    placement: str = option(
        "", "Nodes x ranks on each, e.g. 32x2; default: node after node is filled."
    )
    include: tuple[Path, ...] = option(
        (), "Folder of headers; repeatable.", name="-I", metavar="FOLDER"
    )
    define: tuple[str, ...] = option(
        (), "Macro: N=1000; repeatable.", name="-D", metavar="NAME[=VALUE]"
    )


def command(request: Request) -> None:
    """Estimate from its C source how long an MPI program takes on a machine, and what decides.

    nhalf predict halo.c --ranks 32 --machine sp2-mpl --set n=100000
    nhalf predict halo.c --ranks 64 --machine altix-bx2 --processor here --mpi mpich
    nhalf predict halo.c --ranks 32 --machine sp2-mpl --set n=100000 --engine simgrid
    nhalf predict cg.c --ranks 16 --machine sp2-mpl --set n=1000 --set line42=25
    """
    from nhalf.cli.verbs.bound import parse_numbers
    from nhalf.decide.estimate.estimate import estimate
    from nhalf.loops.source.refusal import RefusedSource
    from nhalf.present.program.estimate import show_estimate
    from nhalf.present.terminal.output import emit_json, stdout_console

    if not request.machine:
        raise InputError(
            "on which machine?", "name one: --machine sp2-mpl; see nhalf machines list"
        )
    numbers = parse_numbers(request.set_)
    try:
        answer: Estimate = estimate(_question(request, list(numbers)), numbers, request.ranks)
    except RefusedSource as refusal:
        place = f"{request.file}:{refusal.line}" if refusal.line else f"{request.file}"
        raise InputError(f"{place}: {refusal.message}", refusal.remedy) from None
    if request.json:
        emit_json(answer.as_json())
    else:
        show_estimate(stdout_console(), answer)


def _question(request: Request, names: Sequence[str]) -> SourceQuestion:
    """The program and the machine; raises RefusedSource, and InputError for no machine."""
    from nhalf.base.errors import unknown
    from nhalf.cli.program_prediction import messages_and_library
    from nhalf.cli.sides import machine_and_library
    from nhalf.decide.estimate.evaluation import SourceQuestion
    from nhalf.decide.program.target import Target
    from nhalf.loops.program.ranks import MpiProgram
    from nhalf.loops.source.preprocessed import HeaderSearch
    from nhalf.node.described import described

    if request.engine not in ENGINES:
        raise unknown("engine", request.engine, ENGINES)
    is_simulated = request.engine == SIMGRID
    if is_simulated and request.mpi:
        raise InputError("SimGrid has operations of its own", "leave out --mpi or --engine simgrid")
    source = MpiProgram(request.file, HeaderSearch(request.include, request.define), names)
    machine, of_machine = machine_and_library(request.machine)
    messages, library, not_asked = messages_and_library(machine, of_machine, request.mpi)
    target = Target(messages, request.placement, simgrid=is_simulated, not_asked=not_asked)
    name = request.processor or (machine.computing.processor if machine.computing else "")
    processor = described(name) if name not in ("", NO_PROCESSOR) else None
    ask = _ask(target, library) if library is not None else None
    return SourceQuestion(source, target, processor, ask, messages_alone=name == NO_PROCESSOR)


def _ask(target: Target, library: Library) -> Callable[[Program, Sequence[str]], Target]:
    """What asks a library for the operations of a program whose ranks are on some hosts."""
    from dataclasses import replace

    from nhalf.cli.program_prediction import asked_operations, saying

    def ask(program: Program, hosts: Sequence[str]) -> Target:
        answers = asked_operations(target.messages, library, [program], hosts, saying(library.name))
        return replace(target, answers=answers)

    return ask
