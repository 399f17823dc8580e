"""`nhalf compare`: is B slower than A, and where?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nhalf.base.errors import FailedError, InputError, library_named
from nhalf.base.files import write_text
from nhalf.base.request import REQUIRED, option, word
from nhalf.base.units import parse_share
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, TableOptions
from nhalf.cli.sides import (
    alone_notes,
    announce_these,
    comparable_medians,
    counterpart,
    facts_of,
    imported_names,
    machine_and_library,
    names_run,
    of_imported,
    print_skipped,
    readable,
    run_and_library,
)
from nhalf.measure.plan.plan import parse_sizes
from nhalf.present.terminal.output import emit_json, print_lines, stdout_console

with lazily(globals()):
    from nhalf.decide.changes import Comparison
    from nhalf.decide.compare import Sides, compare_all, nothing_in_common, pair_libraries
    from nhalf.decide.compare_machines import as_json, compare_machines
    from nhalf.decide.runs_compared import likenesses
    from nhalf.facts.facts import Facts
    from nhalf.facts.tails import tail_samples
    from nhalf.facts.wrong_data import wrong_data
    from nhalf.present import machines_words as machines
    from nhalf.present.changes import curve_names
    from nhalf.present.machines_words import likeness_sentence
    from nhalf.present.report import check_place
    from nhalf.present.report.machines_page import machines_page
    from nhalf.present.terminal.changes import show_comparison, show_ratios, show_several
    from nhalf.statistics.family import analyses_of
    from nhalf.statistics.same_state import same_states

if TYPE_CHECKING:
    import polars as pl

    from nhalf.decide.runs_compared import Likeness
    from nhalf.machines.machine import Machine

    Lost = Sequence[dict[str, Any]]

GROUP = "look"


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, heading="How to compare"):
    """The runs, libraries or machines to compare."""

    a: str = word(REQUIRED, "Baseline: RUN or RUN:LIBRARY, or a machine.")
    b: tuple[str, ...] = word(
        (), "Runs to compare with A, or a machine; default: two libraries of A.", "B..."
    )
    mpi: str = option("", "Library of both, or X,Y for X of A and Y of B.")
    tolerance: str = option("2%", "Smallest change reported as a difference, e.g. 5%.")
    ranks: str = option("", "Numbers of ranks to compare machines at, e.g. 2,8,32; default: a few.")
    size: str = option(
        "", "Sizes to compare machines at: 0:64K or a list; default: those of both.", "--bytes"
    )
    points: bool = option(
        False,
        "Show every point, not only those with a difference.",
        heading=OUTPUT,
        former=("--sizes",),
    )
    report: Path | None = option(
        None, "Also write an HTML page of compared machines.", heading=OUTPUT
    )


def command(request: Request) -> int:
    """Compare runs, libraries or machines; exit code 1 if any run is slower than the first.

    nhalf compare runs/today
    nhalf compare runs/accepted runs/today
    nhalf compare runs/a:openmpi runs/a:mpich --points
    nhalf compare runs/monday runs/tuesday runs/friday
    nhalf compare sp2-mpl altix-bx2 --ranks 2,32
    """
    from nhalf.present.machines_words import names_machine

    if any(map(names_machine, (request.a, *request.b))):
        _machines(request)
        return 0
    if request.ranks or request.size or request.report:
        raise InputError(
            "--ranks, --bytes and --report are for machines", "of runs: nhalf report A B"
        )
    return _several(request) if len(request.b) > 1 else _two(request)


def of_two(request: Request) -> tuple[Comparison, Lost]:
    """The comparison of two runs or libraries, and curves without launches in equal states.

    Raises InputError if they have nothing in common.
    """
    b = "".join(request.b)
    sides, lost = _in_equal_states(request, b)
    (comparison,) = _compared(request, [sides])
    if not comparison.curves and not lost:
        raise nothing_in_common(request.a, b)
    return of_imported(comparison, lost, [request.a, b])


def _two(request: Request) -> int:
    """Compare two runs, or two libraries of one run."""
    is_wrong = _announce(request)
    try:
        comparison, lost = of_two(request)
    except InputError as error:
        raise (FailedError(error.message, error.remedy) if is_wrong else error) from None
    if request.json:
        emit_json({**comparison.as_json(), **_lost_json(lost), "notes": list(comparison.notes)})
    elif request.format == "csv":
        show_ratios(comparison)
    else:
        b = request.b[0] if request.b else request.a
        names = curve_names(lost)
        show_comparison(
            stdout_console(),
            comparison,
            names=(request.a, b),
            run=run_and_library(b)[0],
            lost=[(name, row["doubt"]) for name, row in zip(names, lost, strict=True)],
            every_size=request.points,
        )
    return 1 if is_wrong or comparison.regressed else 0


def _announce(request: Request) -> bool:
    """Say first which data of the compared runs and libraries arrived wrong; whether any did."""
    names = tuple(name.strip() for name in request.mpi.split(",") if name.strip())
    try:
        places, _ = readable([Path(place) for place in (request.a, *request.b)])
        wrong = wrong_data(facts_of(places))
    except InputError:  # to be said by the comparison itself
        return False
    return announce_these([curve for curve in wrong if _is_of(curve.mpi, names)], request)


def _is_of(mpi: str, names: Sequence[str]) -> bool:
    """Whether a library is one of `names`, or any if there are none."""
    return not names or any(f"{mpi}-".startswith((f"{name}-", f"{name}.")) for name in names)


def _several(request: Request) -> int:
    """Compare several runs with the first, as one family; 2 if some cannot be compared."""
    is_wrong = _announce(request)
    compared, skipped = _comparable(request)
    print_skipped(f"{b}: {reason}" for b, reason in skipped.items())
    comparisons = [comparison for comparison, _ in compared.values()]
    if request.json:
        rows = [
            {"run": b, **comparison.as_json(), **_lost_json(lost), "notes": list(comparison.notes)}
            for b, (comparison, lost) in compared.items()
        ]
        lacking = [{"run": b, "reason": reason} for b, reason in skipped.items()]
        emit_json({"baseline": request.a, "comparisons": rows, "skipped": lacking})
    else:
        show_several(stdout_console(), [request.a, *compared], comparisons)
    if is_wrong or any(comparison.regressed for comparison in comparisons):
        return 1
    return InputError.exit_code if skipped else 0


def _comparable(request: Request) -> tuple[dict[str, tuple[Comparison, Lost]], dict[str, str]]:
    """The comparisons with each of the other runs, and why some cannot be compared.

    Raises InputError if none can.
    """
    _medians(request.a)  # without the baseline there is nothing to compare
    sides: dict[str, tuple[Sides, Lost]] = {}
    skipped: dict[str, str] = {}
    for b in request.b:
        try:
            sides[b] = _in_equal_states(request, b)
        except InputError as error:
            skipped[b] = str(error)
    comparisons = _compared(request, [sides_of_b for sides_of_b, _ in sides.values()])
    compared: dict[str, tuple[Comparison, Lost]] = {}
    for (b, (_, lost)), comparison in zip(sides.items(), comparisons, strict=True):
        if comparison.curves or lost:
            compared[b] = comparison, lost
        else:
            skipped[b] = str(nothing_in_common(request.a, b))
    if not compared:
        raise InputError("no run can be compared", "; ".join(dict.fromkeys(skipped.values())))
    return compared, skipped


def _compared(request: Request, sides: Sequence[Sides]) -> list[Comparison]:
    """The comparisons with each of the other runs: all their curves are one family."""
    return compare_all(sides, 1 + parse_share(request.tolerance)) if sides else []


def _in_equal_states(request: Request, b: str) -> tuple[Sides, Lost]:
    """The launches of A and B in equal states of the machine, and curves that are lost so."""
    medians_a, medians_b, samples, libraries = _sides(request.a, b, request.mpi)
    libraries = libraries or pair_libraries(medians_a, medians_b)
    medians_a, medians_b, amount_notes = comparable_medians(request.a, b, medians_a, medians_b)
    imported = imported_names([request.a, b])
    pairs = same_states(medians_a, medians_b, libraries, imported)
    is_one_run = not b or run_and_library(request.a)[0].path == run_and_library(b)[0].path
    notes = (*_virtual_notes(request.a, b), *pairs.notes, *amount_notes)
    notes = (*notes, *alone_notes(request.a, b, medians_a, medians_b, libraries))
    analyses = analyses_of(run_and_library(b or request.a)[0].plan)
    sides = Sides(
        pairs.a, pairs.b, libraries, pairs.doubts, is_one_run, notes, pairs.paired, analyses
    )
    return replace(sides, samples=samples), pairs.lost


def _virtual_notes(a: str, b: str) -> list[str]:
    """What is to be said where one side is a simulated machine, and the other is not."""
    runs = [run_and_library(name)[0] for name in (a, b or a)]
    hosts = [str(run.environment.get("host") or "an unknown host") for run in runs]
    if hosts[0] == hosts[1] or not any(run.virtual for run in runs):
        return []
    sides = [
        f"{name} is {'' if run.virtual else 'real: '}{host}"
        for name, run, host in zip((a, b), runs, hosts, strict=True)
    ]
    return [f"{sides[0]}, and {sides[1]}"]


def _lost_json(lost: Lost) -> dict[str, Any]:
    """The curves without launches in equal states."""
    rows = [
        {
            **{key: value for key, value in row.items() if key != "doubt"},
            "reason": row["doubt"].reason,
            "remedy": row["doubt"].remedy,
        }
        for row in lost
    ]
    return {"unclear": rows}


def _machines(request: Request) -> None:
    """Compare two machines by their models; without a verdict, so the exit code is 0."""
    if len(request.b) > 1:
        raise InputError("machines are compared two at a time", "name two of them")
    b = "".join(request.b)
    (machine_a, library_a), (machine_b, library_b) = (
        machine_and_library(request.a),
        machine_and_library(b or request.a),
    )
    libraries = machines.pair_of(request.mpi, (library_a, library_b))
    if not b and libraries[0] == libraries[1]:
        raise InputError(f"give a second machine to compare {machine_a.name} with")
    sizes = list(parse_sizes(request.size).size_bytes) if request.size else []
    cells = _numbers(request.ranks), sizes
    comparison = compare_machines(machine_a, machine_b, libraries, *cells)
    alike = _alike(request, b, (machine_a, machine_b))
    page_path = None
    if request.report is not None:
        check_place(request.report)
        page_path = write_text(request.report, machines_page(comparison)).absolute()
    if request.json:
        report = str(page_path) if page_path else None
        rows = [likeness.as_json() for likeness in alike]
        emit_json({**as_json(comparison), "likeness": rows, "report": report})
        return
    screen = stdout_console()
    machines.show(screen, comparison)
    run = request.a if names_run(request.a) else b
    for likeness in alike:
        words = f"• {likeness_sentence(likeness, run)}."
        print_lines(screen, words)
    if page_path:
        print_lines(screen, f"report: {page_path}")


def _alike(request: Request, b: str, sides: tuple[Machine, Machine]) -> list[Likeness]:
    """What of a run is as a record's curves of points have it; nothing of two machines."""
    for place, record in ((request.a, sides[1]), (b, sides[0])):
        if names_run(place) and any(model.is_table for model in record.models):
            library = run_and_library(place)[1]
            return likenesses(facts_of([place]), record, parse_share(request.tolerance), library)
    return []


def _numbers(text: str) -> list[int]:
    """Parse numbers of ranks, separated by commas."""
    words = [word.strip() for word in text.split(",")] if text else []
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise InputError(f"--ranks {text!r} are no numbers of ranks", "write --ranks 2,8,32")
    return sorted({int(word) for word in words})


def _sides(
    a: str, b: str, mpi: str
) -> tuple[
    pl.DataFrame, pl.DataFrame, tuple[pl.DataFrame, pl.DataFrame], list[tuple[str, str]] | None
]:
    """Launch medians and samples of both sides, and which libraries to pair (None: equal names)."""
    medians_a, samples_a, library_a = _medians(a)
    medians_b, samples_b, library_b = _medians(b) if b else (medians_a, samples_a, "")
    names = [name.strip() for name in mpi.split(",")] if mpi else []
    if len(names) > 2 or not all(names):
        raise InputError(f"--mpi {mpi!r} is not one or two names", "write --mpi openmpi,mpich")
    if names and (library_a or library_b):
        raise InputError("a library is given twice", "use RUN:LIBRARY or --mpi, not both")
    medians_a, medians_b, *samples = (
        _with_layers(frame, [*names, library_a, library_b])
        for frame in (medians_a, medians_b, samples_a, samples_b)
    )
    of_both = samples[0], samples[1]
    if not names and not library_a and not library_b:
        return medians_a, medians_b, of_both, None if b else [_only_two(medians_a)]
    first = library_a or (names[0] if names else "")
    second = library_b or (names[-1] if names else "")
    pair = (
        _library(medians_a, first, a) if first else counterpart(second, _names(medians_a), a),
        _library(medians_b, second, b or a)
        if second
        else counterpart(first, _names(medians_b), b or a),
    )
    if not b and pair[0] == pair[1]:
        raise InputError(f"{pair[0]} would be compared with itself", "name two: --mpi X,Y")
    return medians_a, medians_b, of_both, [pair]


def _with_layers(medians: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """The medians with the named transports that have no library relabelled as libraries."""
    import polars as pl

    is_layer = (pl.col("mpi") == "") & pl.col("transport").is_in(names)
    mpi = pl.when(is_layer).then("transport").otherwise("mpi")
    transport = pl.when(is_layer).then(pl.lit("mpi")).otherwise("transport")
    return medians.with_columns(mpi=mpi, transport=transport)


def _medians(text: str) -> tuple[pl.DataFrame, pl.DataFrame, str]:
    """Launch medians and samples of RUN or RUN:LIBRARY, and the library's name ('': not given)."""
    run, library = run_and_library(text)
    facts = Facts.of([run])
    return facts.flagged, tail_samples(facts), library


def _names(medians: pl.DataFrame) -> list[str]:
    return sorted(medians["mpi"].unique().to_list())


def _only_two(medians: pl.DataFrame) -> tuple[str, str]:
    """The two libraries of a run that has exactly two."""
    names = _names(medians)
    if len(names) < 2:
        raise InputError("the run has no two libraries to compare", "give a second run")
    if len(names) != 2:
        listed = ", ".join(names) or "none"
        raise InputError(
            f"which two libraries to compare? The run has {len(names)}: {listed}",
            "name them with --mpi X,Y, or give a second run",
        )
    return names[0], names[1]


def _library(medians: pl.DataFrame, name: str, side: str) -> str:
    """The library of a side by its name or a beginning of it."""
    try:
        return library_named(name, _names(medians))
    except InputError as error:
        raise InputError(f"{error.message} of {side}", error.remedy) from None
