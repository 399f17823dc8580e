# SPDX-License-Identifier: Apache-2.0
"""`nhalf tune`: which of its algorithms should a library take, and does it?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from nhalf.base.errors import FailedError, InputError, Interrupted
from nhalf.base.request import Option
from nhalf.cli.options import OUTPUT, Quiet
from nhalf.measure.plan.request import EFFORT, WHERE, Started, Where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nhalf.decide.tune.bench import Bench
    from nhalf.decide.tune.outcome import Checked
    from nhalf.decide.tune.search import Asked
    from nhalf.measure.plan.plan import Plan
    from nhalf.mpi import Library

OPERATIONS = "bcast,reduce,allreduce,allgather,alltoall"
SIZES = "8,128,2K,16K,128K,1M"
LAUNCHES, PRECISION = 3, 0.02


@dataclass(frozen=True, kw_only=True)
class Request(Started, Where, Quiet, heading="What to tune"):
    """Which library is tuned for what, and where."""

    mpi: Annotated[str, Option("MPI library; may be omitted if there is only one.")] = ""
    pattern: Annotated[
        str, Option("Collective operations, separated by commas.", former=("--operation",))
    ] = OPERATIONS
    ranks: Annotated[str, Option("Numbers of ranks, e.g. 2,4,8.")] = "2:cores:x2"
    sizes: Annotated[str, Option("Message sizes to tune for.", "--bytes")] = SIZES
    check: Annotated[
        Path | None, Option("Do not search; test whether the library applies this tuning file.")
    ] = None
    to: Annotated[
        str,
        Option(
            "File format: 1, 2, json (Open MPI); json, variables (MPICH); nhalf (a table of "
            "nhalf's algorithms for libnhalf_coll.so)."
        ),
    ] = ""
    placement: Annotated[str, Option("Placement of ranks, as for nhalf run.", heading=WHERE)] = (
        "cores"
    )
    least_share: Annotated[
        float,
        Option(
            "Minimum saving of time for a rule to be written, e.g. 5%.",
            "--gain",
            heading=EFFORT,
            is_share=True,
        ),
    ] = 0.05
    budget: Annotated[str, Option("Time for the whole search.", heading=EFFORT)] = "5m"
    out: Annotated[
        Path | None, Option("Folder to create for the file and the runs.", heading=OUTPUT)
    ] = None


def command(request: Request) -> None:
    """Choose collective algorithms, write the library's tuning file, and verify that it is applied.

    nhalf tune --mpi openmpi
    """
    bench, asked = _begin(request)
    try:
        if request.check is not None:
            _check(bench, asked, request.check, request)
        else:
            _tune(bench, asked, request)
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted; what was measured is kept", f"see the runs in {bench.folder}"
        ) from None


def _begin(request: Request) -> tuple[Bench, Asked]:
    """What is tuned and where, checked before anything is made."""
    from nhalf.decide.tune.bench import Bench
    from nhalf.decide.tune.search import check_operations
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.loop.session import default_folder
    from nhalf.measure.plan.planning import site_of
    from nhalf.mpi.tuner import content
    from nhalf.mpi.tuning import tuner_for
    from nhalf.sites.placement import check_placement

    if not 0 < request.least_share < 1:
        raise InputError(f"a gain of {request.least_share} is not possible", "0.05 means 5 %")
    if request.check is not None:
        content(request.check)
    site = site_of(request)
    asked = _asked(request, site.cores)
    library = _library(request.mpi, request.mpi_prefix)
    plan = _plan(request, library, asked.budget_s)
    tuner = tuner_for(library, request.to)
    folder = request.out or default_folder().with_name(f"tune-{default_folder().name}")
    placement = check_placement(request.placement)
    check_operations(tuner, asked.operations)
    if request.check is not None:
        tuner.read(request.check)
    _make(folder)
    quiet = request.is_silent
    return Bench(library, tuner, folder, plan, site, lambda: Progress(quiet), placement), asked


def _asked(request: Request, cores: int) -> Asked:
    """The cells that are decided, and for how much."""
    from nhalf.base.units import parse_duration
    from nhalf.decide.tune.bench import size_text
    from nhalf.decide.tune.search import Asked
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.measure.plan.planning import words
    from nhalf.measure.plan.sizes import parse_sizes

    ranks = tuple(sorted(set(parse_ranks(request.ranks, cores))))
    if not ranks or ranks[0] < 2:
        raise InputError(f"{request.ranks!r} are no numbers of ranks", "give 2 or more")
    sizes = size_text(parse_sizes(request.sizes).size_bytes)
    budget_s = parse_duration(request.budget)
    return Asked(tuple(words(request.pattern)), ranks, sizes, request.least_share, budget_s)


def _plan(request: Request, library: Library, budget_s: float) -> Plan:
    """How everything is measured; the blocks come with the search."""
    from nhalf.base.units import parse_duration
    from nhalf.measure.plan.plan import Plan

    return Plan(
        transports=["mpi"],
        mpi=[library.name],
        blocks=[],
        launches=LAUNCHES,
        budget_s=budget_s,
        precision=PRECISION,
        options="",
        seed=request.seed,
        timeout_s=parse_duration(request.timeout),
        mpi_prefixes=request.mpi_prefixes,
        hosts=request.hosts,
        host_file=request.host_file_path,
        launcher=request.launcher,
    )


def _library(name: str, prefixes: Sequence[Path]) -> Library:
    """The library that is named, or the only one that is here."""
    from nhalf.mpi import discover

    if name:
        return discover.find(name, prefixes)
    found = discover.libraries(prefixes)
    if len(found) != 1:
        names = ", ".join(library.name for library in found) or "none"
        raise InputError(f"name one library with --mpi: here are {names}")
    return found[0]


def _make(folder: Path) -> None:
    """The folder; raises InputError if there is something already."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise InputError(f"{folder} is already there", "choose another --out") from None
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}") from None


def _tune(bench: Bench, asked: Asked, request: Request) -> None:
    """Search and prove; nothing won is an answer, too."""
    import msgspec

    from nhalf.decide.tune.outcome import tune
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.present.terminal.tune import show_tuned

    tuned = tune(bench, asked)
    told = {**_about(bench, asked), **tuned.as_json(), "notes": bench.notes}
    (bench.folder / "tune.json").write_bytes(msgspec.json.format(msgspec.json.encode(told)))
    if request.json:
        emit_json(told)
    elif not request.quiet:
        show_tuned(stdout_console(), bench, tuned)


def _check(bench: Bench, asked: Asked, path: Path, request: Request) -> None:
    """Judge a file; raises FailedError unless it is active."""
    from nhalf.decide.tune.outcome import check
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.present.terminal.tune import show_checked

    checked: Checked = check(bench, path, asked)
    if request.json:
        emit_json({**_about(bench, asked), **checked.as_json(), "notes": bench.notes})
    elif not request.quiet:
        show_checked(stdout_console(), bench, checked)
    if checked.activity.verdict != "active":
        said = "is not applied" if checked.activity.verdict == "not active" else "is not proven"
        cell = checked.activity.cell
        raise FailedError(
            f"{path} {said}: {cell.operation} of {cell.size_bytes} bytes, {cell.ranks} ranks: "
            f"{checked.activity.why}",
            "give it more --budget" if said == "is not proven" else "see the variables it needs",
        )


def _about(bench: Bench, asked: Asked) -> dict[str, Any]:
    """What was asked, as JSON begins with it."""
    return {
        "library": bench.library.name,
        "form": bench.tuner.form,
        "folder": str(bench.folder),
        "operations": list(asked.operations),
        "ranks": list(asked.ranks),
        "least_gain": asked.least_share,
    }
