# SPDX-License-Identifier: Apache-2.0
"""A whole run: find the subjects, make or reopen the directory, measure, write the tables."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from nhalf.errors import InputError, MissingError, NhalfError
from nhalf.mpi import Library, discover
from nhalf.store.run import Run
from nhalf.study.environment import environment
from nhalf.study.measure import Measuring
from nhalf.study.plan import Plan
from nhalf.study.progress import Progress
from nhalf.study.sizes import parse_sizes
from nhalf.study.subject import (
    Subject,
    check_patterns,
    library_subject,
    plain_subject,
)


@dataclass(frozen=True)
class Outcome:
    """A run that ended, and what could not be measured: the reason by subject."""

    run: Run
    failed: dict[str, str]


def begin(plan: Plan, out: Path | None) -> tuple[Run, Plan, list[Subject], dict[str, str]]:
    """Check the plan against what is here and make its run directory.

    The plan that comes back names patterns and libraries one by one. Raises InputError for names
    and sizes that are not known, MissingError when nothing can be measured.
    """
    parse_sizes(plan.bytes)
    subjects, failed = _subjects(plan)
    patterns = check_patterns(plan.patterns, subjects)
    _check_ranks(plan, subjects)
    plan = msgspec.structs.replace(
        plan, patterns=patterns, mpi=[s.mpi for s in subjects if s.library]
    )
    description = {
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "environment": environment(),
        "plan": msgspec.to_builtins(plan),
        "titles": {subject.key: subject.title for subject in subjects},
    }
    return Run.create(out or default_folder(), description), plan, subjects, failed


def resume(path: Path) -> tuple[Run, Plan, list[Subject], dict[str, str]]:
    """Open a run that was interrupted, with the libraries it was begun with."""
    run = Run.open(path)
    try:
        plan = msgspec.convert(run.plan, Plan)
    except msgspec.ValidationError as error:
        raise InputError(f"{path} has a plan that this nhalf does not know: {error}") from error
    subjects, failed = _subjects(plan)
    return run, plan, subjects, failed


def measure(
    run: Run, plan: Plan, subjects: Sequence[Subject], failed: dict[str, str], progress: Progress
) -> Outcome:
    """Measure what the plan asks for and is not in the journal yet, then write the Parquet file.

    Raises MissingError when no subject gave a single point.
    """
    with progress:
        failed = {**failed, **Measuring(run, plan, subjects, progress).run()}
    if not any(event.get("event") == "point" for event in run.events()):
        reasons = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise MissingError(f"nothing could be measured: {reasons}", "run nhalf doctor")
    run.finish()
    return Outcome(run, failed)


def default_folder() -> Path:
    """A name for a run from the time of its beginning."""
    return Path("runs", datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S"))


def _subjects(plan: Plan) -> tuple[list[Subject], dict[str, str]]:
    """What the plan measures, and what cannot be: the reason by name."""
    subjects: list[Subject] = []
    failed: dict[str, str] = {}
    for transport in plan.transports:
        if transport != "mpi":
            subjects.append(plain_subject(transport))
            continue
        for library in _libraries(plan):
            try:
                subjects.append(library_subject(library))
            except NhalfError as error:
                failed[library.name] = str(error)
    if not subjects:
        reasons = "; ".join(failed.values())
        raise MissingError(f"nothing to measure: {reasons}", "run nhalf doctor")
    return subjects, failed


def _libraries(plan: Plan) -> list[Library]:
    """The libraries asked for, or every one that is here."""
    prefixes = [Path(prefix) for prefix in plan.mpi_prefixes]
    if plan.mpi in ([], ["all"]):
        found = discover.libraries(prefixes)
        if not found:
            raise MissingError(
                "no MPI library was found",
                "install one with `nhalf mpi install mpich`, or use --transport threads",
            )
        return found
    return [discover.find(name, prefixes) for name in plan.mpi]


def _check_ranks(plan: Plan, subjects: Sequence[Subject]) -> None:
    """Every chosen pattern needs enough ranks."""
    for subject in subjects:
        for pattern in subject.description["patterns"]:
            for ranks in plan.ranks:
                if pattern["name"] in plan.patterns and ranks < pattern["ranks_min"]:
                    raise InputError(
                        f"{pattern['name']} needs {pattern['ranks_min']} ranks or more",
                        f"give --ranks {pattern['ranks_min']}",
                    )
