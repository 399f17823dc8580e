"""Two machines on the terminal: parameters, patterns, and in words where the order changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError
from nhalf.base.numbers import MISSING, format_number
from nhalf.decide.compare_machines import MachineComparison
from nhalf.present.machines_words import WORDS, labels, rows_of, sentences, titles, value_text
from nhalf.present.terminal.tables import headed_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def names_machine(text: str) -> bool:
    """Whether a side is a machine of record or a machine file, with or without a library."""
    from nhalf.machines import catalogue

    return catalogue.is_machine(text) or (
        ":" in text and not Path(text).exists() and catalogue.is_machine(text.rsplit(":", 1)[0])
    )


def pair_of(mpi: str, libraries: tuple[str, str]) -> tuple[str, str]:
    """Choose the libraries of A and B from --mpi X or X,Y, or as named with the sides."""
    if not mpi:
        return libraries
    names = [name.strip() for name in mpi.split(",")]
    if len(names) > 2 or not all(names):
        raise InputError(f"--mpi {mpi!r} is not one or two names", "write --mpi openmpi,mpich")
    if any(libraries):
        raise InputError("a library is given twice", "use MACHINE:LIBRARY or --mpi, not both")
    return names[0], names[-1]


def show(console: Console, comparison: MachineComparison) -> None:
    """Print the tables, then the sentences, then what could not be compared."""
    if labels(comparison)["A"] == "A":
        for side, machine in (("A", comparison.a), ("B", comparison.b)):
            words = f"{side}: {machine.name}, {machine.source}".rstrip(", ")
            console.print(words, markup=False, highlight=False, soft_wrap=True)
        console.print()
    if comparison.parameters:
        console.print(_parameters(comparison))
    console.print(_patterns(comparison))
    for sentence in sentences(comparison):
        console.print(f"• {sentence}", markup=False, highlight=False, soft_wrap=True)
    names = labels(comparison)
    for side, lost in (("A", comparison.only_a), ("B", comparison.only_b)):
        if lost:
            words = f"not compared, only {names[side]} has it: {', '.join(lost)}"
            console.print(words, style="dim", markup=False, highlight=False, soft_wrap=True)


def _table(title_text: str, columns: list[tuple[str, bool]]) -> Table:
    from rich.text import Text

    table = headed_table(title_text)
    for name, numeric in columns:
        table.add_column(Text(name), justify="right" if numeric else "left", no_wrap=True)
    return table


def _parameters(comparison: MachineComparison) -> Table:
    names = labels(comparison)
    columns = [("", False), (names["A"], True), (names["B"], True), ("B / A", True)]
    table = _table("One message", columns)
    for parameter in comparison.parameters:
        ratio = format_number(parameter.b / parameter.a) if parameter.a and parameter.b else MISSING
        table.add_row(
            WORDS[parameter.name],
            *(value_text(parameter, value) for value in (parameter.a, parameter.b)),
            ratio,
        )
    return table


def _patterns(comparison: MachineComparison) -> Table:
    from rich.text import Text

    table = _table("Patterns", titles(comparison))
    for row in rows_of(comparison):
        style = "dim" if row[-1] == "neither" else ""
        table.add_row(*map(Text, row[:-1]), Text(row[-1], style=style))
    return table
