# SPDX-License-Identifier: Apache-2.0
"""A whole run: find the subjects, make or reopen the directory, measure, write the tables."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from nhalf.base.errors import InputError, MissingError, NhalfError
from nhalf.base.units import format_size
from nhalf.measure.loop.ending import Outcome, keep_end
from nhalf.measure.loop.measure import Measuring
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.time_limit import time_limit
from nhalf.measure.plan.plan import Plan, read_plan
from nhalf.measure.plan.resolve import absent, check_blocks, resolve
from nhalf.measure.plan.setting import check_settings
from nhalf.measure.probe.subject import Subject, library_subject, plain_subject
from nhalf.mpi import Library, discover
from nhalf.sites.environment import environment
from nhalf.sites.launchers import check_is_here
from nhalf.sites.site import HERE, Site, find_site
from nhalf.store.run import Run


@dataclass(frozen=True)
class Prepared:
    """A run that can be measured: its plan, what is measured where, and what cannot be."""

    run: Run
    plan: Plan
    subjects: list[Subject]
    failed: dict[str, str]
    site: Site = HERE


def begin(plan: Plan, out: Path | None, site: Site = HERE) -> Prepared:
    """Check the plan against what is here and make its run directory.

    The plan that comes back names patterns and libraries one by one. Raises InputError for names
    and sizes that are not known, MissingError when nothing can be measured.
    """
    check_is_here(site.launcher)
    plan, subjects, failed = checked(plan)
    libraries = [one.mpi for one in subjects if one.library and not one.setting]
    # Without one of them, resuming must not look for all of them.
    transports = [name for name in plan.transports if name != "mpi" or libraries]
    plan = msgspec.structs.replace(
        plan, mpi=libraries, transports=transports, hosts_found=len(site.hosts)
    )
    description = {
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "environment": {**environment(), "site": site.in_words(), **_variables(plan)},
        "plan": msgspec.to_builtins(plan),
        "titles": {subject.key: subject.title for subject in subjects},
    }
    run = Run.create(out or default_folder(), description)
    return Prepared(run, plan, subjects, failed, site)


def checked(plan: Plan) -> tuple[Plan, list[Subject], dict[str, str]]:
    """The plan with its patterns one by one, what is measured, and why others cannot be."""
    check_blocks(plan)
    _check_settings(plan)
    subjects, failed = _subjects(plan)
    return resolve(plan, subjects), subjects, failed


def resume(path: Path, hosts: str = "", host_file: str = "", launcher: str = "") -> Prepared:
    """Open a run that was interrupted, with the libraries it was begun with.

    Hosts and launcher are those given here, else those of its plan, else those of the present
    allocation. Raises MissingError where it was begun on hosts and none are to be had now.
    """
    run = Run.open(path)
    try:
        plan = read_plan(run.plan)
    except msgspec.ValidationError as error:
        raise InputError(f"{path} has a plan that this nhalf does not know: {error}") from error
    named = (hosts, host_file) if hosts or host_file else (plan.hosts, plan.host_file)
    site = find_site(*named, launcher or plan.launcher)
    if plan.hosts_found and not site.hosts:
        raise MissingError(
            f"{path} was begun on {plan.hosts_found} hosts, and here is one machine",
            "give --hosts, or resume it inside an allocation",
        )
    check_is_here(site.launcher)
    subjects, failed = _subjects(plan)
    return Prepared(run, plan, subjects, failed, site)


def measure(prepared: Prepared, progress: Progress) -> Outcome:
    """Measure what the plan asks for and is not in the journal yet, then write the Parquet file.

    Raises MissingError when no subject gave a single point.
    """
    run, plan, subjects = prepared.run, prepared.plan, prepared.subjects
    with progress:
        measuring = Measuring(run, plan, subjects, progress, prepared.site, time_limit())
        failed = {**prepared.failed, **measuring.run()}
    events = run.events()
    failed |= _failed_points(events)
    if not any(event["event"] == "point" for event in events):
        reasons = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise MissingError(f"nothing could be measured: {reasons}", "run nhalf doctor")
    agenda = measuring.agenda
    notes = [*absent(plan, subjects), *agenda.left_out(), *measuring.troubles_in_words()]
    outcome = Outcome(run, failed, notes, agenda.unmeasured(), measuring.state.dead)
    keep_end(outcome)
    run.finish()
    return outcome


def default_folder() -> Path:
    """A name for a run from the time of its beginning."""
    name = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(path for name in names if not (path := Path("runs", name)).exists())


def _failed_points(events: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The points that a run went on without: the reason by subject, pattern and sizes."""
    sizes: dict[tuple[str, str, str], list[int]] = {}
    for event in events:
        if event["event"] == "failed":
            key = (event["subject"], event["pattern"], event["reason"])
            sizes.setdefault(key, []).append(event["bytes"])
    failed = {}
    for (subject, pattern, reason), found in sizes.items():
        first, last = format_size(min(found)), format_size(max(found))
        span = first if len(set(found)) == 1 else f"{len(set(found))} sizes from {first} to {last}"
        failed[f"{subject}, {pattern} of {span}"] = reason
    return failed


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
                plain = library_subject(library)
            except NhalfError as error:
                failed[library.name] = str(error)
                continue
            # The probe is the plain library's: a setting changes how it runs, not how it is built.
            settings = (one for one in plan.settings if one.only in ("", library.name))
            subjects += [plain, *map(plain.under, settings)]
    if not subjects:
        reasons = "; ".join(failed.values())
        raise MissingError(f"nothing to measure: {reasons}", "run nhalf doctor")
    return subjects, failed


def _check_settings(plan: Plan) -> None:
    """Raises InputError for settings that cannot be, or that nothing is measured under."""
    check_settings(plan.settings)
    if plan.settings and "mpi" not in plan.transports:
        raise InputError("settings are for MPI libraries", "add --transport mpi")


def _variables(plan: Plan) -> dict[str, Any]:
    """What the settings of a plan set, as the description of a run keeps it."""
    found = {one.name: one.variables for one in plan.settings}
    return {"settings": found} if found else {}


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
    named = [discover.find(name, prefixes) for name in plan.mpi]
    return list({library.name: library for library in named}.values())
