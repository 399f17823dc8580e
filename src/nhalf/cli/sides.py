"""Runs, machines and programs as a verb names them; wrong data is what it says first of runs."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nhalf.base.arguments import as_path
from nhalf.base.carrier import WINDOWS
from nhalf.base.errors import InputError, library_named
from nhalf.base.printable import say
from nhalf.base.units import number_in
from nhalf.cli.lazy import lazily
from nhalf.present.terminal.output import WRONG_DATA, print_lines, stdout_console
from nhalf.store.described import USUAL, described_folders

if TYPE_CHECKING:
    import polars as pl

    from nhalf.decide.changes import Comparison

with lazily(globals()):
    from nhalf.decide.calibrate import calibrated
    from nhalf.exchange.program.foreign import read_foreign, reader_of
    from nhalf.facts.facts import Facts
    from nhalf.facts.program.program import Program
    from nhalf.facts.wrong_data import WrongData, wrong_data
    from nhalf.machines import catalogue
    from nhalf.machines.machine import Machine
    from nhalf.measure.traced.tables import is_trace
    from nhalf.store.run import Run


def facts_of(places: Iterable[str | PathLike[str]]) -> Facts:
    """The joint facts of several runs, each named as RUN or as RUN:LIBRARY.

    Raises InputError for a path that is no run, and for a library that its run does not have.
    """
    sides = [run_and_library(place) for place in places]
    return Facts.of([run for run, _ in sides], [library for _, library in sides])


def newest_run() -> Path:
    """The run or trace of ./runs that was made last, named on standard error.

    Raises InputError if there is none.
    """
    paths = described_folders()
    if not paths:
        raise InputError(
            f"no run is named, and {USUAL}/ holds none", "name a run: nhalf show runs/today"
        )
    say(f"the newest run: {paths[-1]}")
    return paths[-1]


def readable(places: Sequence[Path]) -> tuple[list[Path], dict[str, str]]:
    """Split several runs: those that can be read, and why the others cannot.

    Raises InputError if none can be read; a run that is named alone is not looked at.
    """
    if len(places) < 2:
        return list(places), {}
    runs: list[Path] = []
    unreadable: dict[str, str] = {}
    for place in places:
        try:
            run_and_library(place)[0].check()
            runs.append(place)
        except InputError as error:
            unreadable[str(place)] = str(error)
    if not runs:
        raise InputError("no run can be read", "; ".join(dict.fromkeys(unreadable.values())))
    return runs, unreadable


def print_skipped(reasons: Iterable[str]) -> None:
    """Print a warning for everything that is left out of several runs because it cannot be read."""
    for reason in reasons:
        say(f"skipped: {reason}")


def run_and_library(place: str | PathLike[str], mpi: str = "") -> tuple[Run, str]:
    """The run of RUN or RUN:LIBRARY, and the full name of the library, also if `mpi` names it.

    The library is looked up in its own run, by its name or a beginning of it ('openmpi-5'); a
    transport that has no library counts as one.

    Raises InputError for a path that is no run, for damaged measurements, for a library that the
    run does not have, and if one is named in both ways.
    """
    from nhalf.store.run import MEASUREMENTS

    place = as_path(place, "run", "runs/today")
    path, _, library = str(place).rpartition(":")
    if not path or Path(place).exists():
        path, library = str(place), mpi
    elif mpi:
        raise InputError("a library is given twice", "use RUN:LIBRARY or --mpi, not both")
    run = Run.open(Path(path))
    if (run.path / MEASUREMENTS).exists():  # a journal is checked while it is read
        run.check()
    return run, _library_of(run, library)


def pair_of(a: tuple[Run, str], b: tuple[Run, str]) -> tuple[str, str]:
    """The libraries of two runs to compare, where one side may name none; ('', '') for neither.

    A library that only one side names is compared with the only one of the other side, or with
    that of its vendor. Raises InputError if the other side has none.
    """
    (run_a, library_a), (run_b, library_b) = a, b
    if library_a and not library_b:
        return library_a, _partner(library_a, run_b)
    if library_b and not library_a:
        return _partner(library_b, run_a), library_b
    return library_a, library_b


def counterpart(library: str, names: Sequence[str], side: str) -> str:
    """The library among `names`, those of `side`, to compare with one of the other side.

    It is the one of that name, else the newest of the vendor. Raises InputError without one.
    """
    vendor = library.partition("-")[0]
    try:
        return library if library in names else library_named(vendor, names)
    except InputError:
        raise InputError(
            f"{side} has no {vendor} to compare with {library}",
            f"name a library of it, as in {side}:{next(filter(None, names), 'LIBRARY')}",
        ) from None


def names_run(text: str) -> bool:
    """Whether a text is RUN or RUN:LIBRARY."""
    from nhalf.store.run import DESCRIPTION

    path = text if Path(text).exists() else text.rpartition(":")[0]
    return bool(path) and Path(path, DESCRIPTION).is_file()


def _partner(library: str, run: Run) -> str:
    """The library of a run to compare with one of another run."""
    names = _libraries(run)
    return names[0] if len(names) == 1 else counterpart(library, names, str(run.path))


def _library_of(run: Run, name: str) -> str:
    """The full name of a library of a run; '' for ''."""
    if not name:
        return ""
    try:
        return library_named(name, _libraries(run))
    except InputError as error:
        raise InputError(f"{error.message} of {run.name}", error.remedy) from None


def _libraries(run: Run) -> list[str]:
    """The libraries of a run, and its transports without one."""
    rows = run.measurements().select("mpi", "transport").unique().collect().iter_rows()
    return sorted({mpi or transport for mpi, transport in rows})


LINES_MAX = 8


def announce(facts: Facts, request: object) -> bool:
    """Say which data of these runs arrived wrong, before anything else; whether any did.

    The words begin a table on standard output; where that holds something for programs or nothing,
    they go to standard error, and an object of JSON names them in its member `wrong_data`.
    """
    return announce_these(wrong_data(facts), request)


def announce_these(wrong: Sequence[WrongData], request: object) -> bool:
    """Say first that these data arrived wrong; whether there are any."""
    if wrong and _is_for_people(request):
        _keep(wrong)
        print_lines(stdout_console(), *_lines(wrong), style="bold red")
    elif wrong:
        _remark(wrong)
    return bool(wrong)


def remark(facts: Facts) -> None:
    """Say on standard error, and in JSON, which data of a run arrived wrong: it is one source."""
    if wrong := wrong_data(facts):
        _remark(wrong)


def _remark(wrong: Sequence[WrongData]) -> None:
    _keep(wrong)
    sys.stderr.write("".join(f"{line}\n" for line in _lines(wrong)))


def _keep(wrong: Sequence[WrongData]) -> None:
    """Let JSON on standard output name them, too."""
    WRONG_DATA.set([*WRONG_DATA.get(), *(curve.as_json() for curve in wrong)])


def _lines(wrong: Sequence[WrongData]) -> list[str]:
    lines = [curve.headline for curve in wrong[:LINES_MAX]]
    if len(wrong) > LINES_MAX:
        lines.append(f"and {len(wrong) - LINES_MAX} more with wrong data")
    return lines


def _is_for_people(request: object) -> bool:
    """Whether standard output is a table to be read."""
    silent = any(getattr(request, name, False) for name in ("json", "quiet", "style", "formula"))
    return not silent and getattr(request, "format", "table") == "table"


def machine_and_library(place: str | PathLike[str]) -> tuple[Machine, str]:
    """The machine of MACHINE, FILE or RUN, or of one of these with :LIBRARY, and the library.

    Models are fitted to a run. Raises InputError for what is none of them.
    """
    text = str(as_path(place, "machine", "sp2-mpl"))
    name, library = text, ""
    if not (catalogue.is_machine(text) or Path(text).exists()) and ":" in text:
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


def is_program(path: Path) -> bool:
    """Whether a path is a traced program, or one that another tool wrote down."""
    if is_trace(path):
        return True
    if not path.exists():
        return False
    return reader_of(path) is not None


def open_program(path: Path, flop_rate: float = 0.0) -> Program:
    """A program by its path; `flop_rate` is how many operations a rank does per second.

    Raises InputError if it is none, or damaged.
    """
    if is_trace(path):
        if flop_rate:
            raise InputError(f"{path} has times, and needs no --flop-rate", "leave it out")
        return Program.open(path)
    return read_foreign(path, flop_rate) or Program.open(path)


def parse_flop_rate(text: str) -> float:
    """The operations per second of --flop-rate, 0 if it was left out; raises InputError."""
    if not text:
        return 0.0
    flop_rate = number_in(text)
    if not 0 < flop_rate < math.inf:
        raise InputError(
            f"--flop-rate {text} is not a rate", "give operations per second of a rank, such as 2e9"
        )
    return flop_rate


SHOWN = 3


def imported_names(names: Sequence[str]) -> list[str]:
    """The sides, RUN or RUN:LIBRARY, that were imported."""
    return [name for name in names if name and _run(name).environment.get("imported")]


def of_imported(
    comparison: Comparison, lost: Sequence[dict[str, Any]], names: Sequence[str]
) -> tuple[Comparison, Sequence[dict[str, Any]]]:
    """The comparison with remedies for imported sides: they have no launches but their logs."""
    imported = imported_names(names)
    if not imported:
        return comparison, lost
    remedy = f"import more logs into {' and '.join(imported)}: nhalf import FILE... --out NEW"
    curves = [
        replace(curve, doubt=replace(curve.doubt, remedy=remedy)) if curve.doubt.remedy else curve
        for curve in comparison.curves
    ]
    lost = [{**row, "doubt": replace(row["doubt"], remedy=remedy)} for row in lost]
    return replace(comparison, curves=curves), lost


def comparable_medians(
    a: str, b: str, medians_a: pl.DataFrame, medians_b: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """The medians without accesses of windows whose times are those of other numbers of bytes.

    A log has the time of one access of many, a measured run that of all of them together.
    """
    import polars as pl

    if not b or not imported_names([a, b]):
        return medians_a, medians_b, []
    from nhalf.store.keys import COMPARED_POINT

    amounts = [
        _run(name)
        .measurements()
        .filter(pl.col("transport").is_in(WINDOWS))
        .group_by(COMPARED_POINT)
        .agg(pl.col("bytes_per_time").max())
        .collect()
        for name in (a, b)
    ]
    joined = amounts[0].join(amounts[1], on=list(COMPARED_POINT), nulls_equal=True, suffix="_b")
    unequal = joined.filter(pl.col("bytes_per_time") != pl.col("bytes_per_time_b"))
    if unequal.is_empty():
        return medians_a, medians_b, []
    notes = [
        f"{row['pattern']} {row['axes']} is not compared: a time of {a} is that of "
        f"{row['bytes_per_time']} bytes, one of {b} that of {row['bytes_per_time_b']}"
        for row in unequal.unique(["pattern", "axes"], maintain_order=True).head(SHOWN).to_dicts()
    ]
    keys = unequal.select(COMPARED_POINT)
    comparable = [
        medians.join(keys, on=list(COMPARED_POINT), how="anti", nulls_equal=True)
        for medians in (medians_a, medians_b)
    ]
    return comparable[0], comparable[1], notes


def alone_notes(
    a: str,
    b: str,
    medians_a: pl.DataFrame,
    medians_b: pl.DataFrame,
    libraries: Sequence[tuple[str, str]],
) -> Iterator[str]:
    """A sentence for curves of one side that the other does not have, if one was imported."""
    import polars as pl

    from nhalf.present.changes import curve_names
    from nhalf.store.keys import COMPARED_CURVE

    if not b or not imported_names([a, b]):
        return
    firsts, seconds = ({pair[side] for pair in libraries} for side in (0, 1))
    curves_a = medians_a.filter(pl.col("mpi").is_in(firsts)).unique(COMPARED_CURVE)
    curves_b = medians_b.filter(pl.col("mpi").is_in(seconds)).unique(COMPARED_CURVE)
    for name, own, partners in ((a, curves_a, curves_b), (b, curves_b, curves_a)):
        alone = own.join(partners, on=list(COMPARED_CURVE), how="anti", nulls_equal=True)
        if alone.is_empty():
            continue
        names = curve_names(alone.sort(COMPARED_CURVE).to_dicts())
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        yield f"only in {name}: {'; '.join(names[:SHOWN])}{more}"


def _run(name: str) -> Run:
    return run_and_library(name)[0]
