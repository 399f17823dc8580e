# SPDX-License-Identifier: Apache-2.0
"""`nhalf compare`: is B slower than A, and where?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nhalf.base.errors import InputError, library_named
from nhalf.base.request import Option, Word
from nhalf.cli.options import OUTPUT, Tables

if TYPE_CHECKING:
    import polars as pl

    from nhalf.decide.compare import Comparison


@dataclass(frozen=True, kw_only=True)
class Request(Tables, heading="How to compare"):
    """Which runs, libraries or machines are compared."""

    a: Annotated[str, Word("Baseline: RUN or RUN:LIBRARY, or a machine.")]
    b: Annotated[
        tuple[str, ...],
        Word("Runs to compare with A, or a machine; default: two libraries of A.", "B..."),
    ] = ()
    mpi: Annotated[str, Option("Library of both, or X,Y for X of A and Y of B.")] = ""
    tolerance: Annotated[str, Option("Smallest change reported as a difference, e.g. 5%.")] = "2%"
    ranks: Annotated[
        str, Option("Numbers of ranks to compare machines at, e.g. 2,8,32; default: a few.")
    ] = ""
    size: Annotated[
        str,
        Option("Sizes to compare machines at: 0:64K or a list; default: those of both.", "--bytes"),
    ] = ""
    points: Annotated[
        bool,
        Option(
            "Show every point, not only those with a difference.",
            heading=OUTPUT,
            former=("--sizes",),
        ),
    ] = False
    report: Annotated[
        Path | None, Option("Also write an HTML page of compared machines.", heading=OUTPUT)
    ] = None


def command(request: Request) -> int:
    """Compare runs, libraries or machines; exit code 1 if any run is slower than the first.

    nhalf compare runs/today
    nhalf compare runs/accepted runs/today
    nhalf compare runs/a:openmpi runs/a:mpich --points
    nhalf compare runs/monday runs/tuesday runs/friday
    nhalf compare sp2-mpl altix-bx2 --ranks 2,32
    """
    from nhalf.present.terminal.compare_machines import names_machine

    if any(map(names_machine, (request.a, *request.b))):
        _machines(request)
        return 0
    if request.ranks or request.size or request.report:
        raise InputError(
            "--ranks, --bytes and --report are for machines", "of runs: nhalf report A B"
        )
    return _several(request) if len(request.b) > 1 else _two(request)


def _two(request: Request) -> int:
    """Two runs, or two libraries of one."""
    from nhalf.present.terminal.comparison import show_comparison, show_ratios
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.present.wording import sentence

    comparison, notes = _compared(request, "".join(request.b))
    if request.json:
        emit_json({**comparison.as_json(), "notes": notes})
    elif request.format == "csv":
        show_ratios(comparison)
    else:
        for note in notes:
            stdout_console().print(f"{sentence(note)}.", markup=False)
        show_comparison(stdout_console(), comparison, request.points)
    return 1 if comparison.regressed else 0


def _several(request: Request) -> int:
    """Several runs, each against the first; they share the probability of a false alarm."""
    from nhalf.present.terminal.comparison import show_several
    from nhalf.present.terminal.output import emit_json, stdout_console

    found = [_compared(request, b, len(request.b)) for b in request.b]
    if request.json:
        told = [
            {"run": b, **comparison.as_json(), "notes": notes}
            for b, (comparison, notes) in zip(request.b, found, strict=True)
        ]
        emit_json({"baseline": request.a, "comparisons": told})
    else:
        for note in dict.fromkeys(note for _, notes in found for note in notes):
            stdout_console().print(note, markup=False)
        show_several(
            stdout_console(), [request.a, *request.b], [comparison for comparison, _ in found]
        )
    return 1 if any(comparison.regressed for comparison, _ in found) else 0


def _compared(request: Request, b: str, of: int = 1) -> tuple[Comparison, list[str]]:
    """The comparison with one run, which is one `of` several, and notes on what was left out."""
    from nhalf.base.units import parse_share
    from nhalf.decide.compare import compare, pair_libraries
    from nhalf.decide.ratio_intervals import CONFIDENCE

    left, right, libraries = _sides(request.a, b, request.mpi)
    libraries = libraries or pair_libraries(left, right)
    left, right, notes = _in_same_states(left, right, libraries)
    comparison = compare(
        left,
        right,
        libraries=libraries,
        threshold=1 + parse_share(request.tolerance),
        confidence=1 - (1 - CONFIDENCE) / of,
        names=(request.a, b),
    )
    return comparison, notes


def _machines(request: Request) -> None:
    """Two machines by their models; no judgement, so the exit code is 0."""
    from nhalf.cli.machine_side import side
    from nhalf.decide.machines_compared.compare import as_json, compare_machines
    from nhalf.present.terminal import compare_machines as machines
    from nhalf.present.terminal.output import emit_json, stdout_console

    if len(request.b) > 1:
        raise InputError("machines are compared two at a time", "name two of them")
    b = "".join(request.b)
    (left, library_a), (right, library_b) = side(request.a), side(b or request.a)
    libraries = machines.pair_of(request.mpi, (library_a, library_b))
    if not b and libraries[0] == libraries[1]:
        raise InputError(f"{left.name} would be compared with itself", "name another machine")
    cells = _numbers(request.ranks), _sizes(request.size)
    comparison = compare_machines(left, right, libraries, *cells)
    place = None
    if request.report is not None:
        from nhalf.base.files import write_text
        from nhalf.present.report.machines_page import machines_page

        place = write_text(request.report, machines_page(comparison)).absolute()
    if request.json:
        emit_json({**as_json(comparison), "report": str(place) if place else None})
        return
    screen = stdout_console()
    machines.show(screen, comparison)
    if place:
        screen.print(f"report: {place}", soft_wrap=True, markup=False, highlight=False)


def _numbers(text: str) -> list[int]:
    """Numbers of ranks, separated by commas."""
    words = [word.strip() for word in text.split(",")] if text else []
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise InputError(f"--ranks {text!r} are no numbers of ranks", "write --ranks 2,8,32")
    return sorted({int(word) for word in words})


def _sizes(text: str) -> list[int]:
    from nhalf.measure.plan.sizes import parse_sizes

    return list(parse_sizes(text).size_bytes) if text else []


def _sides(
    a: str, b: str, mpi: str
) -> tuple[pl.DataFrame, pl.DataFrame, list[tuple[str, str]] | None]:
    """Launch medians of both sides, and which libraries to pair (None: equal names)."""
    left, library_a = _medians(a)
    right, library_b = _medians(b) if b else (left, "")
    names = [name.strip() for name in mpi.split(",")] if mpi else []
    if len(names) > 2 or not all(names):
        raise InputError(f"--mpi {mpi!r} is not one or two names", "write --mpi openmpi,mpich")
    if names and (library_a or library_b):
        raise InputError("a library is given twice", "use RUN:LIBRARY or --mpi, not both")
    left, right = (_with_layers(one, [*names, library_a, library_b]) for one in (left, right))
    if not names and not library_a and not library_b:
        if b:
            return left, right, None
        return left, right, [_only_two(left)]
    first = library_a or (names[0] if names else "")
    second = library_b or (names[-1] if names else "")
    pair = _library(left, first or second), _library(right, second or first)
    if not b and pair[0] == pair[1]:
        raise InputError(f"{pair[0]} would be compared with itself", "name two: --mpi X,Y")
    return left, right, [pair]


def _with_layers(medians: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """The same with transports that are named and that no library carries, as if libraries."""
    import polars as pl

    is_layer = (pl.col("mpi") == "") & pl.col("transport").is_in(names)
    mpi = pl.when(is_layer).then("transport").otherwise("mpi")
    transport = pl.when(is_layer).then(pl.lit("mpi")).otherwise("transport")
    return medians.with_columns(mpi=mpi, transport=transport)


def _in_same_states(
    left: pl.DataFrame, right: pl.DataFrame, libraries: list[tuple[str, str]]
) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    """Both sides as far as the machine was in the same state, and notes on what was left out."""
    import polars as pl

    from nhalf.statistics.same_state import same_state

    pairs = [
        same_state(left.filter(pl.col("mpi") == a), right.filter(pl.col("mpi") == b))
        for a, b in libraries
    ]
    if pairs and any(same.lost for same in pairs) and all(same.a.is_empty() for same in pairs):
        raise InputError(
            "the machine was in another state in B than in A: a flag between two cores tells it",
            "add launches at another time: nhalf run --resume RUN --budget 1m",
        )
    notes = list(dict.fromkeys(same.note for same in pairs if same.note))
    if not pairs:
        return left.drop("flag_s"), right.drop("flag_s"), notes
    return pl.concat([one.a for one in pairs]), pl.concat([one.b for one in pairs]), notes


def _medians(text: str) -> tuple[pl.DataFrame, str]:
    """Launch medians of RUN or RUN:LIBRARY, and the library's name ('' when not given)."""
    from nhalf.cli.run_side import run_and_library
    from nhalf.statistics.flags import with_flags
    from nhalf.statistics.summary import launch_medians

    run, library = run_and_library(text)
    measurements = run.measurements()
    return with_flags(launch_medians(measurements), measurements), library


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


def _library(medians: pl.DataFrame, name: str) -> str:
    """The library of a run by its name, or by a beginning that only one has."""
    return library_named(name, _names(medians))
