"""`nhalf tune`: choose a library's algorithms, and verify that it applies the choice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from nhalf.base.errors import FailedError, InputError, Interrupted, NhalfError
from nhalf.base.operations import has_root
from nhalf.base.printable import say
from nhalf.base.request import option
from nhalf.base.units import parse_duration
from nhalf.cli.lazy import lazily
from nhalf.cli.options import COMPLETION, OUTPUT, QuietOption
from nhalf.cli.sides import announce_these, run_and_library
from nhalf.cli.virtual_side import virtual_machine
from nhalf.measure.plan.plan import Plan, parse_sizes, sizes_text
from nhalf.measure.plan.request import EFFORT, WHERE, OnMachine, StartOptions, Where, words
from nhalf.mpi import Library
from nhalf.mpi.named_prefix import in_prefixes, named_here
from nhalf.present.terminal.output import emit_json, stdout_console
from nhalf.sites.placement import Placement

with lazily(globals()):
    from nhalf.decide.criteria import check_criterion, chosen_by
    from nhalf.experiment.tune.bench import LibraryBench
    from nhalf.experiment.tune.outcome import Checked, check, tune
    from nhalf.experiment.tune.search import TuningRequest, check_operations, violated_cells
    from nhalf.facts.facts import Facts
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.loop.session import default_folder
    from nhalf.measure.plan.axes import parse_ranks
    from nhalf.measure.plan.planning import site_of
    from nhalf.mpi import discover
    from nhalf.mpi.tuner import Tuner, content
    from nhalf.mpi.tuning import tuner_for
    from nhalf.present.terminal.tune import show_checked, show_tuned
    from nhalf.sites.site import Site

GROUP = "tune"
OPERATIONS = "bcast,reduce,allreduce,allgather,alltoall"
SIZES = "8,128,2K,16K,128K,1M"
LAUNCHES, PRECISION = 3, 0.02


@dataclass(frozen=True, kw_only=True)
class Request(StartOptions, OnMachine, Where, QuietOption, heading="What to tune"):
    """The library to tune, for which cells, and where."""

    mpi: str = option("", "MPI library, or NAME=PREFIX; may be omitted if there is only one.")
    pattern: str = option(
        OPERATIONS, "Collective operations, separated by commas.", former=("--operation",)
    )
    ranks: str = option("2:cores:x2", "Numbers of ranks, e.g. 2,4,8.")
    sizes: str = option(SIZES, "Message sizes to tune for.", "--bytes")
    check: Path | None = option(
        None, "Do not search; test whether the library applies this tuning file."
    )
    violated: Path | None = option(
        None, "Tune where the library violates performance guidelines in this run.", metavar="RUN"
    )
    to: str = option(
        "",
        "File format: 1, 2, json, components (Open MPI); json, variables (MPICH); nhalf (a "
        "table of nhalf's algorithms for libnhalf_coll.so).",
    )
    criterion: str = option(
        COMPLETION,
        "By what algorithms are compared: completion, until the root is free (root), or the time "
        "of all ranks together (processors).",
        "--for",
    )
    placement: str = option("cores", "Placement of ranks, as for nhalf run.", heading=WHERE)
    least_share: float = option(
        0.05,
        "Minimum saving of time for a rule to be written, e.g. 5%.",
        "--gain",
        heading=EFFORT,
        is_share=True,
    )
    budget: str = option("5m", "Time for the whole search.", heading=EFFORT)
    out: Path | None = option(None, "Folder to create for the file and the runs.", heading=OUTPUT)


def command(request: Request) -> int:
    """Choose collective algorithms, write the library's tuning file, and verify that it is applied.

    nhalf tune --mpi openmpi
    nhalf tune --mpi mpich --machine altix-bx2 --ranks 16,64
    nhalf tune --mpi mpich --violated runs/today
    """
    bench, goal = _begin(request)
    try:
        if request.check is not None:
            return _check(bench, goal, request.check, request)
        return _tune(bench, goal, request)
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted; what was measured is kept", f"see the runs in {bench.folder}"
        ) from None


def _begin(request: Request) -> tuple[LibraryBench, TuningRequest]:
    """The bench and the goal of the request, checked before anything is created."""
    if not 0 < request.least_share < 1:
        raise InputError(f"a gain of {request.least_share} is not possible", "0.05 means 5 %")
    if request.check is not None:
        content(request.check)
    placement = Placement.parse(request.placement).check()
    machine = virtual_machine(request, request.ranks, request.seed, [placement])
    site = machine.site if machine else site_of(request)
    goal = _goal(request, site.cores)
    library = _library(request.mpi, request.mpi_prefix)
    plan = _plan(request, library, goal.budget_s)
    tuner = tuner_for(library, request.to).placed(
        partial(_nodes, site, placement.text), shares_memory=machine is None
    )
    if "pattern" not in request.given:
        offered = tuple(
            name
            for name in goal.operations
            if tuner.algorithms(name) and (request.criterion != "root" or has_root(name))
        )
        goal = replace(goal, operations=offered or goal.operations)
    if request.violated is not None:
        goal = _where_violated(goal, request, tuner)
    folder = request.out or default_folder().with_name(f"tune-{default_folder().name}")
    check_operations(tuner, goal.operations)
    for operation in goal.operations:
        check_criterion(request.criterion, operation)
    if request.check is not None:
        tuner.read(request.check)
    _create(folder)
    quiet = request.is_silent
    bench = LibraryBench(
        library,
        tuner,
        folder,
        plan,
        site,
        lambda: Progress(quiet),
        placement.text,
        machine,
        request.criterion,
    )
    tuner.comment = chosen_by(request.criterion)
    if not quiet:
        bench.tell = say
    bench.notes += [tuner.note] if tuner.note else []
    return bench, goal


def _nodes(site: Site, placement: str, ranks: int) -> int:
    """On how many hosts this many ranks are; 0 where a placement does not have them."""
    try:
        return site.layout(placement, ranks).hosts
    except NhalfError:
        return 0


def _goal(request: Request, cores: int) -> TuningRequest:
    """The cells to decide, and the budget."""
    ranks = tuple(sorted(set(parse_ranks(request.ranks, cores))))
    if not ranks or ranks[0] < 2:
        raise InputError(f"{request.ranks!r} are no numbers of ranks", "give 2 or more")
    sizes = sizes_text(parse_sizes(request.sizes).size_bytes)
    budget_s = parse_duration(request.budget)
    return TuningRequest(tuple(words(request.pattern)), ranks, sizes, request.least_share, budget_s)


def _where_violated(goal: TuningRequest, request: Request, tuner: Tuner) -> TuningRequest:
    """The goal with the cells of violated guidelines, except what the user names."""
    assert request.violated is not None
    run, _ = run_and_library(request.violated)
    cells = violated_cells(Facts.of([run]), tuner)
    return replace(
        goal,
        operations=goal.operations if "pattern" in request.given else cells.operations,
        ranks=goal.ranks if "ranks" in request.given else cells.ranks,
        sizes=goal.sizes if "sizes" in request.given else sizes_text(cells.sizes_bytes),
        first=cells.first,
    )


def _plan(request: Request, library: Library, budget_s: float) -> Plan:
    """The plan of all measurements; its blocks come with the search."""
    from nhalf.measure.virtual.machine import TIMEOUT_S

    is_usual = "timeout" not in request.given and bool(request.machine)
    return Plan(
        transports=["mpi"],
        mpi=named_here([request.mpi or library.name]),
        blocks=[],
        launches=LAUNCHES,
        budget_s=budget_s,
        precision=PRECISION,
        options="",
        seed=request.seed,
        timeout_s=TIMEOUT_S if is_usual else request.timeout_s,
        mpi_prefixes=request.mpi_prefixes,
        hosts=request.hosts,
        host_file=request.host_file_path,
        launcher=request.launcher,
    )


def _library(name: str, prefixes: Sequence[Path]) -> Library:
    """The named library, or the only one that is installed."""
    if name:
        return discover.find(name, prefixes)
    libraries = discover.libraries(prefixes)
    libraries = in_prefixes(libraries, prefixes) or libraries
    if len(libraries) != 1:
        names = ", ".join(library.name for library in libraries) or "none"
        raise InputError(f"name one library with --mpi: here are {names}")
    return libraries[0]


def _create(folder: Path) -> None:
    """Create the folder; raises InputError if it exists."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise InputError(f"{folder} is already there", "choose another --out") from None
    except OSError as error:
        raise InputError(f"{folder} cannot be made: {error.strerror}") from None


def _tune(bench: LibraryBench, goal: TuningRequest, request: Request) -> int:
    """Search, write and verify; finding no improvement is a valid result, wrong data are not: 1."""
    import msgspec

    tuned = tune(bench, goal)
    result = {**_about(bench, goal), **tuned.as_json(), "notes": bench.notes}
    (bench.folder / "tune.json").write_bytes(msgspec.json.format(msgspec.json.encode(result)))
    is_wrong = announce_these(bench.wrong, request)
    if request.json:
        emit_json(result)
    else:
        show_tuned(stdout_console(), bench, tuned)
    return int(is_wrong)


def _check(bench: LibraryBench, goal: TuningRequest, path: Path, request: Request) -> int:
    """Check a tuning file; 1 for wrong data. Raises FailedError unless it is active."""
    checked: Checked = check(bench, path, goal)
    is_wrong = announce_these(bench.wrong, request)
    if request.json:
        emit_json({**_about(bench, goal), **checked.as_json(), "notes": bench.notes})
    else:
        show_checked(stdout_console(), bench, checked)
    if checked.activity.verdict != "active":
        failure = "is not applied" if checked.activity.verdict == "not active" else "is not proven"
        cell = checked.activity.cell
        raise FailedError(
            f"{path} {failure}: {cell.operation} of {cell.size_bytes} bytes, {cell.ranks} ranks: "
            f"{checked.activity.why}",
            "give it more --budget" if failure == "is not proven" else "see the variables it needs",
        )
    return int(is_wrong)


def _about(bench: LibraryBench, goal: TuningRequest) -> dict[str, Any]:
    """The goal, with which the JSON object begins."""
    return {
        "library": bench.library.name,
        **({"virtual": bench.machine.as_json()} if bench.machine else {}),
        "for": bench.criterion,
        "form": bench.tuner.form,
        "folder": str(bench.folder),
        "operations": list(goal.operations),
        "ranks": list(goal.ranks),
        "least_gain": goal.least_share,
    }
