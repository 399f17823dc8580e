# SPDX-License-Identifier: Apache-2.0
"""The plan of an earlier run, to measure the same points once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from nhalf.base.errors import InputError, NhalfError
from nhalf.base.request import parameters
from nhalf.base.units import parse_duration
from nhalf.measure.plan.plan import Block, Plan, read_plan
from nhalf.measure.plan.planning import parse_precision, words
from nhalf.measure.plan.request import Measuring
from nhalf.measure.plan.setting import parse_settings
from nhalf.mpi import discover
from nhalf.store.axes import axes_text
from nhalf.store.run import Run

POINTS = ("study", "pattern", "ranks", "sizes", "axis", "algorithm", "placement")
"""What is asked for of points, which are those of the earlier run."""
_CURVE = ("pattern", "algorithm", "ranks", "placement", "axes")


def plan_like(asked: Measuring, former: Run) -> Plan:
    """The plan of an earlier run, with what is given beside its points.

    Libraries are those of then, or those that are here now under the same name of a vendor. Raises
    InputError where points are named, too, or what is here is not enough.
    """
    _check_given(asked, former)
    plan = _former(former)
    changes: dict[str, Any] = {
        "hosts": asked.hosts,
        "host_file": asked.host_file_path,
        "launcher": asked.launcher,
        "mpi_prefixes": asked.mpi_prefixes or plan.mpi_prefixes,
    }
    changes["mpi"] = words(asked.mpi) if "mpi" in asked.given else _here(plan.mpi, changes)
    given: dict[str, tuple[str, Callable[[], Any]]] = {
        "transport": ("transports", lambda: words(asked.transport)),
        "setting": ("settings", lambda: parse_settings(asked.setting)),
        "model": ("options", lambda: asked.model),
        "budget": ("budget_s", lambda: parse_duration(asked.budget)),
        "launches": ("launches", lambda: asked.launches),
        "precision": ("precision", lambda: parse_precision(asked.precision)),
        "seed": ("seed", lambda: asked.seed),
        "timeout": ("timeout_s", lambda: parse_duration(asked.timeout)),
    }
    changes |= {name: read() for key, (name, read) in given.items() if key in asked.given}
    return msgspec.structs.replace(
        plan, blocks=[_effort(block, changes) for block in plan.blocks], **changes
    )


def points_of(run: Run) -> list[dict[str, Any]]:
    """The points of a run by curve: pattern, algorithm, ranks, placement, axes and `sizes`."""
    points = run.measurements().select(*_CURVE, "bytes").unique()
    return (
        points.group_by(_CURVE).agg(sizes=pl.col("bytes").sort()).sort(_CURVE).collect().to_dicts()
    )


def _check_given(asked: Measuring, former: Run) -> None:
    names = [
        "a study" if one.name == "study" else one.spelling
        for one in parameters(type(asked))
        if one.name in asked.given and one.name in POINTS
    ]
    if names:
        raise InputError(
            f"the points are those of {former.path.name}, so --like does not go with "
            f"{', '.join(names)}",
            "leave one of them out",
        )


def _former(run: Run) -> Plan:
    """The plan of a run; one of its points where it has none, as what was imported."""
    if run.simulation:
        raise InputError(f"{run.path.name} was simulated", "use nhalf simulate")
    try:
        return read_plan(run.plan)
    except msgspec.ValidationError:
        blocks = [
            Block(
                [curve["pattern"]],
                [curve["ranks"]],
                ",".join(map(str, curve["sizes"])),
                {"algorithm": curve["algorithm"]} if curve["algorithm"] != "native" else {},
            )
            for curve in points_of(run)
            if curve["axes"] == axes_text({})
        ]
        return Plan(
            transports=["mpi"], mpi=[], blocks=blocks, launches=5, budget_s=0.0, precision=0.03,
            options="", seed=1, timeout_s=60.0,
        )  # fmt: skip


def _here(names: Sequence[str], changes: dict[str, Any]) -> list[str]:
    """Libraries by name; where one is not here, that of the same vendor."""
    prefixes = [Path(prefix) for prefix in changes["mpi_prefixes"]]
    found = []
    for name in names:
        try:
            found.append(discover.find(name, prefixes).name)
        except NhalfError:
            found.append(discover.find(name.partition("-")[0], prefixes).name)
    return found


def _effort(block: Block, changes: dict[str, Any]) -> Block:
    """A block with the launches and the precision that are given."""
    effort = {name: changes[name] for name in ("launches", "precision") if name in changes}
    return msgspec.structs.replace(block, **effort)
