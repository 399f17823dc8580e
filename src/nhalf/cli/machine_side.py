"""Machines as they are named where a verb takes a machine, a file or a run."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from nhalf.base.arguments import as_path
from nhalf.cli.lazy import lazily
from nhalf.cli.run_side import facts_of, names_run, remark, run_and_library
from nhalf.machines import catalogue

with lazily(globals()):
    from nhalf.decide.calibrate import calibrated
    from nhalf.facts.facts import Facts
    from nhalf.machines.machine import Machine


def machine_and_library(place: str | PathLike[str]) -> tuple[Machine, str]:
    """The machine of MACHINE, FILE or RUN, or of one of these with :LIBRARY, and the library.

    Models are fitted to a run. Raises InputError for what is none of them.
    """
    text = str(as_path(place, "machine", "sp2-mpl"))
    name, library = text, ""
    if not _is_there(text) and ":" in text:
        name, library = text.rsplit(":", 1)
    if catalogue.is_machine(name) or not Path(name).exists():
        return catalogue.machine(name), library
    run, library = run_and_library(name, library)
    facts = Facts.of([run])
    remark(facts)
    return facts.machine, library


def calibrated_machine(text: str) -> Machine:
    """A machine by name or file, or the machine of a run, calibrated to the measured times."""
    if not names_run(text):
        return catalogue.machine(text)
    facts = facts_of([text])
    remark(facts)
    return calibrated(facts)


def _is_there(text: str) -> bool:
    return catalogue.is_machine(text) or Path(text).exists()
