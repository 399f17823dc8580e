"""The plan of an earlier run, to measure the same points once more."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from nhalf.base.errors import InputError, NhalfError
from nhalf.base.request import parameters
from nhalf.measure.plan.plan import Block, Plan, parse_settings, read_plan
from nhalf.measure.plan.planning import parse_precision
from nhalf.measure.plan.request import PlanRequest, words
from nhalf.mpi import discover
from nhalf.mpi.gpu import AXIS as MEMORY
from nhalf.mpi.named_prefix import is_named, kept_as, named_here
from nhalf.store.keys import parse_axes
from nhalf.store.run import Run

POINTS = ("study", "pattern", "ranks", "sizes", "axis", "algorithm", "placement")
"""Options that choose points, which --like takes from the earlier run."""
_OF_NODES = {"gpu": "nhalf node --gpu", "node": "nhalf node"}
"""The verbs that measure transports of their own."""
_CURVE = ("pattern", "algorithm", "ranks", "placement", "axes")


def plan_like(request: PlanRequest, former: Run, library: str = "") -> Plan:
    """Return the plan of an earlier run, changed by the options given besides its points.

    Libraries are the same as then, or of the same vendor; `library` selects one of them, or a
    transport without one. Raises InputError if options also choose points, or several libraries
    for one, MissingError where a library is missing.
    """
    plan = _former(former)
    _check_given(request, former, plan.study)
    if library:
        plan = _of_library(plan, request, former, library)
    changes: dict[str, Any] = {
        "hosts": request.hosts,
        "host_file": request.host_file_path,
        "launcher": request.launcher,
        "mpi_prefixes": request.mpi_prefixes or plan.mpi_prefixes,
    }
    changes["mpi"] = (
        named_here(words(request.mpi)) if "mpi" in request.given else _here(plan.mpi, changes)
    )
    readers: dict[str, tuple[str, Callable[[], Any]]] = {
        "transport": ("transports", lambda: words(request.transport)),
        "setting": ("settings", lambda: parse_settings(request.setting)),
        "model": ("options", lambda: request.model),
        "budget": ("budget_s", lambda: request.budget_s),
        "launches": ("launches", lambda: request.launches),
        "precision": ("precision", lambda: parse_precision(request.precision)),
        "seed": ("seed", lambda: request.seed),
        "timeout": ("timeout_s", lambda: request.timeout_s),
    }
    changes |= {name: read() for key, (name, read) in readers.items() if key in request.given}
    changes["launches_fixed"] = "launches" in request.given
    return msgspec.structs.replace(
        plan, blocks=[_effort(block, changes) for block in plan.blocks], **changes
    )


def points_of(run: Run, library: str = "") -> list[dict[str, Any]]:
    """Return the points of a run by curve: pattern, algorithm, ranks, placement, axes, `sizes`.

    `library` selects those of one library, or of a transport without one.
    """
    measurements = run.measurements()
    measurements = measurements.filter(is_of(library)) if library else measurements
    points = measurements.select(*_CURVE, "bytes").unique()
    return (
        points.group_by(_CURVE).agg(sizes=pl.col("bytes").sort()).sort(_CURVE).collect().to_dicts()
    )


def is_of(library: str) -> pl.Expr:
    """Whether a row is of a library, or of a transport without one."""
    return pl.col("mpi").eq(library) | (pl.col("mpi").eq("") & pl.col("transport").eq(library))


def _of_library(plan: Plan, request: PlanRequest, former: Run, library: str) -> Plan:
    """Return the plan with one of its libraries and the transports that this was measured on."""
    if "+" in library:
        raise InputError(
            f"{library} has a setting, which is measured beside the library without it",
            f"write --like {former.path}",
        )
    if len(words(request.mpi)) > 1:
        raise InputError(f"{library} is compared with one library", "name one with --mpi")
    rows = former.measurements().filter(is_of(library)).select("mpi", "transport").unique()
    measured = rows.collect()
    return msgspec.structs.replace(
        plan,
        mpi=[kept_as(name, plan.mpi) or name for name in measured["mpi"].unique() if name],
        transports=sorted(measured["transport"].unique()),
        settings=[],
    )


def _check_given(request: PlanRequest, former: Run, study: str) -> None:
    names = [
        "another study" if parameter.name == "study" else parameter.spelling
        for parameter in parameters(type(request))
        if parameter.name in request.given
        and parameter.name in POINTS
        and (parameter.name != "study" or request.study != study)
    ]
    if names:
        raise InputError(
            f"the points are those of {former.path.name}, so --like does not go with "
            f"{', '.join(names)}",
            "leave one of them out",
        )


def _former(run: Run) -> Plan:
    """Return the plan of a run; one made from its points if it has none, as imported runs."""
    if run.simulation:
        raise InputError(f"{run.path.name} was simulated", "use nhalf predict --engine simgrid")
    try:
        return read_plan(run.plan)
    except msgspec.ValidationError:
        transports = run.measurements().select("transport").unique().collect()["transport"]
        if len(transports) == 1 and (verb := _OF_NODES.get(transports[0])):
            raise InputError(f"{run.path.name} was measured by {verb}", f"use {verb}") from None
        blocks = [block for curve in points_of(run) if (block := _block(curve))]
        return Plan(
            transports=["mpi"], mpi=[], blocks=blocks, launches=5, budget_s=0.0, precision=0.03,
            options="", seed=1, timeout_s=60.0,
        )  # fmt: skip


def _block(curve: dict[str, Any]) -> Block | None:
    """The curve of an imported log; None with axes that are not those of a pattern here."""
    axes = parse_axes(curve["axes"])
    memory = {name: axes.pop(name) for name in (MEMORY,) if name in axes}
    algorithm = {"algorithm": curve["algorithm"]} if curve["algorithm"] != "native" else {}
    sizes = ",".join(map(str, curve["sizes"]))
    if axes:
        return None
    return Block([curve["pattern"]], [curve["ranks"]], sizes, algorithm | memory)


def _here(names: Sequence[str], changes: dict[str, Any]) -> list[str]:
    """Return the names of installed libraries; a missing one becomes one of the same vendor."""
    prefixes = [Path(prefix) for prefix in changes["mpi_prefixes"]]
    library_names = []
    for name in names:
        if is_named(name):
            library_names.append(name)
            continue
        try:
            library_names.append(discover.find(name, prefixes).name)
        except NhalfError:
            library_names.append(discover.find(name.partition("-")[0], prefixes).name)
    return library_names


def _effort(block: Block, changes: dict[str, Any]) -> Block:
    """Return a block with the launches and the precision that are given."""
    effort = {name: changes[name] for name in ("launches", "precision") if name in changes}
    return msgspec.structs.replace(block, **effort)
