"""Expectations (a file of promises, an earlier run or a machine), and the check against them."""

from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl

from nhalf.base.errors import InputError
from nhalf.base.typed_toml import read_toml
from nhalf.decide.check.against import TOLERANCE, against_former, against_machine, model_notes
from nhalf.decide.check.expectations import POINT_METRICS, read_expectations
from nhalf.decide.check.promise import CONFIDENCE, answers, verified
from nhalf.decide.check.verdict import CheckedRun, Kind
from nhalf.facts.facts import Facts
from nhalf.facts.machine_states import busier
from nhalf.facts.tails import tail_samples
from nhalf.machines import catalogue, machine_file
from nhalf.machines.machine import Machine
from nhalf.statistics.doubt import CERTAIN
from nhalf.store.run import DESCRIPTION, Run

NOT_SHARED = "intervals of models and results hold at 95 % individually, not jointly"


def check(
    facts: Facts,
    expect: str,
    *,
    tolerance: float | None = None,
    pattern: str = "",
    mpi: str = "",
    former_mpi: str = "",
    took_turns: bool = False,
) -> CheckedRun:
    """The facts of one run against a file, a run directory or the name of a machine.

    `tolerance` is a fraction; by default TOLERANCE for runs and machines, and none for promises
    without one. `pattern` and `mpi` also restrict the expectations; `former_mpi` names the library
    of a baseline that `mpi` is compared with, and both `took_turns` if they are of one run. Raises
    InputError for anything else.
    """
    path, kind = find(expect)
    chosen = facts.restricted(pattern=pattern, mpi=mpi)
    verdict = verified(chosen)
    if kind == "expectations":
        expectations = read_expectations(path, read_toml(path), tolerance)
        has_derived_metrics = any(
            expectation.metric not in POINT_METRICS for expectation in expectations
        )
        results = answers(chosen, expectations)
        notes = (NOT_SHARED,) if has_derived_metrics else ()
        return CheckedRun(kind, CONFIDENCE, (verdict, *results), notes=notes)
    tolerance = TOLERANCE if tolerance is None else tolerance
    if kind == "baseline":
        former_run = Run.open(path)
        imported = ["the former run"] if former_run.environment.get("imported") else []
        before = Facts.of([former_run], [former_mpi])
        former = _only(before.flagged, pattern, "" if former_mpi else mpi)
        doubt = CERTAIN if took_turns else busier(before, chosen)
        samples = _only(tail_samples(before), pattern, "" if former_mpi else mpi)
        sides = took_turns, imported, doubt, samples
        checked = against_former(chosen, former, tolerance, *sides)
    else:
        machine = _narrowed(machine_file.read(path), pattern, mpi)
        checked = against_machine(chosen, machine, tolerance)
        checked = replace(checked, notes=tuple(model_notes(machine, tolerance)))
    return replace(checked, answers=(verdict, *checked.answers))


def find(expect: str) -> tuple[Path, Kind]:
    """The path and the kind of `expect`; a name without a file is that of a known machine."""
    path = Path(expect)
    if not path.exists():
        if expect in catalogue.names():
            return catalogue.path_of(expect), "machine"
        if path.suffix or path.parent != Path():
            raise InputError(
                f"{expect} does not exist", "name a file, a run directory or a machine"
            )
        raise catalogue.unknown_machine("machine or file", expect)
    if path.is_dir() or ((path.parent / DESCRIPTION).is_file() and path.suffix != ".toml"):
        return path, "baseline"
    content = read_toml(path)
    if "expect" in content:
        return path, "expectations"
    if "models" in content or "schema" in content:
        return path, "machine"
    message = f"{path} holds neither expectations nor a machine"
    raise InputError(message, "write [[expect]] tables, or name a file of nhalf fit")


def _only(medians: pl.DataFrame, pattern: str, mpi: str) -> pl.DataFrame:
    """The launches, or samples, of one pattern, and of one library if it has that name."""
    if pattern:
        medians = medians.filter(pl.col("pattern") == pattern)
    ours = medians.filter(pl.col("mpi") == mpi) if mpi else medians
    return medians if ours.is_empty() else ours


def _narrowed(machine: Machine, pattern: str, mpi: str) -> Machine:
    """The machine with the models that `_only` would leave."""
    models = [model for model in machine.models if pattern in ("", model.pattern)]
    ours = [model for model in models if mpi in ("", model.mpi)]
    return msgspec.structs.replace(machine, models=tuple(ours or models))
