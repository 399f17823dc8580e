# SPDX-License-Identifier: Apache-2.0
"""`nhalf tune`: which of its algorithms should a library take, and does it?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nhalf.base.errors import FailedError, InputError

if TYPE_CHECKING:
    from nhalf.decide.tune.bench import Bench
    from nhalf.decide.tune.outcome import Checked
    from nhalf.decide.tune.search import Asked
    from nhalf.mpi import Library

BUDGET = "5m"
OPERATIONS = "bcast,reduce,allreduce,allgather,alltoall"
SIZES = "8,128,2K,16K,128K,1M"


def command(
    mpi: Annotated[str, typer.Option(help="The MPI library by name; the only one by itself.")] = "",
    operation: Annotated[
        str, typer.Option(help="Collective operations, separated by commas.")
    ] = OPERATIONS,
    ranks: Annotated[str, typer.Option(help="Numbers of ranks: 2,4,8.")] = "2:cores:x2",
    sizes: Annotated[str, typer.Option("--bytes", help="Sizes to decide at.")] = SIZES,
    gain: Annotated[
        float, typer.Option(help="The share of time that an entry has to save at least.")
    ] = 0.05,
    budget: Annotated[str, typer.Option(help="Time for all of it.")] = BUDGET,
    check: Annotated[
        Path | None, typer.Option(help="Do not search: is this tuning file heeded?")
    ] = None,
    form: Annotated[
        str, typer.Option(help="Of the file: 1, 2, json (Open MPI); json, variables (MPICH).")
    ] = "",
    to: Annotated[
        str, typer.Option(help="nhalf: a table of nhalf's own algorithms, for libnhalf_coll.so.")
    ] = "",
    placement: Annotated[str, typer.Option(help="Where ranks go, as for nhalf run.")] = "cores",
    hosts: Annotated[str, typer.Option(help="Hosts to measure on: n1,n2 or n[1-4].")] = "",
    host_file: Annotated[Path | None, typer.Option(help="A file of hosts, a line each.")] = None,
    launcher: Annotated[str, typer.Option(help="srun, mpirun or hydra.")] = "",
    mpi_prefix: Annotated[
        list[Path] | None, typer.Option(help="Folder of a further MPI library; repeatable.")
    ] = None,
    timeout: Annotated[str, typer.Option(help="How long a silent library is waited for.")] = "60s",
    seed: Annotated[int, typer.Option(min=0, help="Of the random orders.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Folder to make, for the file and runs.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show neither bar nor summary.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Choose a library's algorithms, write its own tuning file, and prove that it heeds it."""
    options = dict(locals())
    bench, asked = _begin(options)
    try:
        if check is not None:
            _check(bench, asked, check, options)
        else:
            _tune(bench, asked, options)
    except KeyboardInterrupt:
        from nhalf.base.errors import Interrupted

        raise Interrupted(
            "interrupted; what was measured is kept", f"see the runs in {bench.folder}"
        ) from None


def _begin(options: dict[str, Any]) -> tuple[Bench, Asked]:
    """What is tuned and where, checked before anything is made."""
    from nhalf.base.units import parse_duration
    from nhalf.cli.planning import site_of, words
    from nhalf.decide.tune.bench import Bench, size_text
    from nhalf.decide.tune.search import Asked, check_operations
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.loop.session import default_folder
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.measure.plan.plan import Plan
    from nhalf.measure.plan.sizes import parse_sizes
    from nhalf.mpi.tuner import content
    from nhalf.mpi.tuning import tuner_for
    from nhalf.sites.placement import check_placement

    if not 0 < options["gain"] < 1:
        raise InputError(f"a gain of {options['gain']} is not possible", "0.05 means 5 %")
    if options["check"] is not None:
        content(options["check"])
    site = site_of(options)
    ranks = tuple(sorted(set(parse_ranks(options["ranks"], site.cores))))
    if not ranks or ranks[0] < 2:
        raise InputError(f"{options['ranks']!r} are no numbers of ranks", "give 2 or more")
    sizes = size_text(parse_sizes(options["sizes"]).size_bytes)
    budget_s = parse_duration(options["budget"])
    asked = Asked(tuple(words(options["operation"])), ranks, sizes, options["gain"], budget_s)
    library = _library(options)
    prefixes = [str(path.resolve()) for path in options["mpi_prefix"] or []]
    plan = Plan(
        ["mpi"], [library.name], [], 3, budget_s, 0.02, "", options["seed"],
        parse_duration(options["timeout"]), prefixes, hosts=options["hosts"],
        host_file=str(options["host_file"] or ""), launcher=options["launcher"],
    )  # fmt: skip
    tuner = tuner_for(library, options["form"], options["to"])
    folder = options["out"] or default_folder().with_name(f"tune-{default_folder().name}")
    placement = check_placement(options["placement"])
    check_operations(tuner, asked.operations)
    if options["check"] is not None:
        tuner.read(options["check"])
    _make(folder)
    quiet = options["quiet"] or options["json"]
    return Bench(library, tuner, folder, plan, site, lambda: Progress(quiet), placement), asked


def _library(options: dict[str, Any]) -> Library:
    """The library that is named, or the only one that is here."""
    from nhalf.mpi import discover

    prefixes = options["mpi_prefix"] or []
    if options["mpi"]:
        return discover.find(options["mpi"], prefixes)
    found = discover.libraries(prefixes)
    if len(found) != 1:
        names = ", ".join(library.name for library in found) or "none"
        raise InputError(f"name one library with --mpi: here are {names}")
    return found[0]


def _make(folder: Path) -> None:
    """The folder; raises InputError where there is something already."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise InputError(f"{folder} is already there", "choose another --out") from None
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}") from None


def _tune(bench: Bench, asked: Asked, options: dict[str, Any]) -> None:
    """Search and prove; nothing won is an answer, too."""
    import msgspec

    from nhalf.decide.tune.outcome import tune
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.present.terminal.tune import show_tuned

    tuned = tune(bench, asked)
    told = {**_about(bench, asked), **tuned.as_json(), "notes": bench.notes}
    (bench.folder / "tune.json").write_bytes(msgspec.json.format(msgspec.json.encode(told)))
    if options["json"]:
        emit_json(told)
    elif not options["quiet"]:
        show_tuned(stdout_console(), bench, tuned)


def _check(bench: Bench, asked: Asked, path: Path, options: dict[str, Any]) -> None:
    """Judge a file; raises FailedError unless it is active."""
    from nhalf.decide.tune.outcome import check
    from nhalf.present.terminal.output import emit_json, stdout_console
    from nhalf.present.terminal.tune import show_checked

    checked: Checked = check(bench, path, asked)
    if options["json"]:
        emit_json({**_about(bench, asked), **checked.as_json(), "notes": bench.notes})
    elif not options["quiet"]:
        show_checked(stdout_console(), bench, checked)
    if checked.activity.verdict != "active":
        said = "is not heeded" if checked.activity.verdict == "not active" else "is not proven"
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
