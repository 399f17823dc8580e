"""List, show and check machines of record and machine files.

nhalf machines list
nhalf machines show sp2-mpl
nhalf machines check altix-bx2 --ranks 2,8
"""

from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError, unknown
from nhalf.base.request import REQUIRED, option, word
from nhalf.cli.lazy import lazily
from nhalf.cli.options import PREDICTED_CORES, ChangeOptions, QuietOption, TableOptions
from nhalf.decide.engine_names import ENGINES
from nhalf.measure.plan.plan import parse_sizes
from nhalf.present.terminal.output import emit_json, stdout_console

with lazily(globals()):
    from nhalf.cli.sides import machine_and_library
    from nhalf.machines import catalogue
    from nhalf.machines.change import change
    from nhalf.machines.message import Messages
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.present.terminal import machine_list
    from nhalf.present.terminal.machine_show import machine_json, show_machine
    from nhalf.studies.engines.agreement import Inquiry, agreement
    from nhalf.studies.published.prover import prove

GROUP = "machine"


@dataclass(frozen=True, kw_only=True)
class List(TableOptions):
    """Where to search for machines."""

    folder: Path = word(Path(), "Folder to search, with its subfolders.")


def list_machines(request: List) -> None:
    """List the machines of record and the machine files under a folder.

    nhalf machines list
    """
    if not request.folder.is_dir():
        raise InputError(
            f"{request.folder} is not a folder", "name a folder that holds machine files"
        )
    machines = machine_list.listed(request.folder)
    if request.json:
        emit_json({"machines": [machine_list.as_json(machine) for machine in machines]})
    else:
        machine_list.show_list(stdout_console(), machines)


@dataclass(frozen=True, kw_only=True)
class Show(ChangeOptions, TableOptions):
    """The machine to show."""

    machine: str = word(REQUIRED, "Machine of record (name) or machine file.")


def show(request: Show) -> None:
    """Show a machine: models, published figures, sources, unknown values.

    nhalf machines show sp2-mpl
    """
    machine = change(catalogue.machine(request.machine), request.set_)
    if request.json:
        emit_json(machine_json(machine, str(catalogue.path_of(request.machine))))
    else:
        show_machine(stdout_console(), machine)


@dataclass(frozen=True, kw_only=True)
class Check(ChangeOptions, QuietOption, heading="Which cells"):
    """The machine to check, and what is asked."""

    machine: str = word(REQUIRED, "Machine of record (name), machine file or run.")
    ranks: str = option("2,3,8,32", "Numbers of ranks, e.g. 2,8.")
    sizes: str = option("8,1K,64K,1M", "Message sizes, e.g. 8,64K.", "--bytes")
    engine: str = option(
        "model,library,simgrid",
        "Who is asked: some of model, library and simgrid, separated by commas.",
    )
    mpi: str = option("", "Which MPI library is asked; default: the first one here.")
    published: bool = option(
        False, "Ask for the published figures instead, each without itself: are they right?"
    )


def check(request: Check) -> int:
    """Compare what the model, an MPI library in virtual time and SimGrid say of a machine.

    They are asked for canonical patterns and algorithms; the exit code is 1 where they differ by
    more than 2 % without a known reason, or where a published figure does not fit the others.

    nhalf machines check altix-bx2 --ranks 2,8 --engine model,library
    nhalf machines check sp2-mpl --published --engine model
    """
    engines = request.engine.split(",")
    for name in engines:
        if name not in ENGINES:
            raise unknown("engine", name, ENGINES)
    machine, library = machine_and_library(request.machine)
    if request.published:
        changed = change(machine, request.set_)
        trial = prove(changed, engines, request.mpi, Progress(request.is_silent))
        if request.json:
            emit_json(trial.as_json())
        else:
            machine_list.show_trial(stdout_console(), trial)
        return 1 if trial.alarms or trial.agreement.unexplained else 0
    inquiry = Inquiry(
        parse_ranks(request.ranks, PREDICTED_CORES),
        parse_sizes(request.sizes).size_bytes,
        engines,
        request.mpi,
    )
    messages = Messages(change(machine, request.set_), library)
    answers = agreement(messages, inquiry, Progress(request.is_silent))
    if request.json:
        emit_json(answers.as_json())
    else:
        machine_list.show(stdout_console(), answers)
    return 1 if answers.unexplained else 0


COMMANDS = {"list": list_machines, "show": show, "check": check}
