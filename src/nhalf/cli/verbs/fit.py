"""`nhalf fit`: fit the models of a machine file to a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.request import REQUIRED, option, word
from nhalf.base.rows import members
from nhalf.cli.options import OUTPUT, TableOptions
from nhalf.cli.sides import announce, run_and_library
from nhalf.present.terminal.output import emit_json, print_lines, stdout_console

if TYPE_CHECKING:
    from nhalf.machines.machine import Machine

GROUP = "machine"


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, heading=OUTPUT):
    """The run to fit, and where to write the machine."""

    run: Path = word(REQUIRED, "RUN or RUN:LIBRARY.")
    node: Path | None = option(
        None,
        "A run of nhalf node on the same machine: what a core does, or its GPU, joins the machine.",
        heading="What to fit",
    )
    out: Path | None = option(None, "Machine file to write; default: machine.toml in the run.")


def command(request: Request) -> None:
    """Fit models to a run and write them as a machine file.

    nhalf fit runs/today
    nhalf fit runs/today:openmpi --out openmpi.toml
    nhalf fit runs/today --node runs/node
    """
    from nhalf.facts.facts import Facts
    from nhalf.facts.machine_states import machine_states
    from nhalf.facts.pattern_fit import not_modelled
    from nhalf.machines.machine_file import write
    from nhalf.present.terminal.machine_table import (
        as_tables,
        model_json,
        pattern_json,
        pattern_tables,
    )
    from nhalf.present.wording import states_text
    from nhalf.store.run import MACHINE

    run, mpi = run_and_library(request.run)
    facts = Facts.of([run]).restricted(mpi=mpi)
    announce(facts, request)
    machine = facts.machine
    if request.node is not None:
        machine = _with_node(machine, request.node)
    missing = not_modelled(facts.summary, machine.patterns)
    path = (request.out or run.path / MACHINE).absolute()
    write(machine, path)
    if request.json:
        models = [model_json(model) for model in machine.models]
        patterns = [pattern_json(model) for model in machine.patterns]
        emit_json(
            {
                "machine": str(path),
                "models": models,
                "patterns": patterns,
                "not_modelled": [
                    members(pattern, "pattern", "mpi", "ranks", "reason") for pattern in missing
                ],
                "loggp": machine.loggp,
                "states": machine_states(facts),
            }
        )
        return
    screen = stdout_console()
    for table in [*as_tables(machine), *pattern_tables(machine.patterns)]:
        screen.print(table)
    for pattern in missing:
        if len(pattern.ranks) > 1:
            words = f"no model of ranks: {pattern.pattern} of {pattern.mpi}, {pattern.reason}"
            screen.print(words, style="dim", markup=False, highlight=False)
    for states in machine_states(facts):
        screen.print(states_text(states), markup=False, highlight=False)
    print_lines(screen, f"machine: {path}")


def _with_node(machine: Machine, node: Path) -> Machine:
    """The machine with the computing rates of its cores, or its GPU, from a run of nhalf node."""
    from msgspec.structs import replace

    from nhalf.facts.facts import Facts
    from nhalf.facts.gpu import gpu_part
    from nhalf.facts.node import computing
    from nhalf.store.run import Run

    facts = Facts.of([Run.open(node)])
    if gpu := gpu_part(facts):
        return replace(machine, gpu=gpu)
    return replace(machine, computing=computing(facts))
