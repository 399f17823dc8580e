"""Whatever is asked of a run or a traced program, each fact is computed once at most."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import nhalf.facts
from nhalf.base import native_files
from nhalf.base.errors import NhalfError
from nhalf.cli.group import command_line
from nhalf.facts import fact as mechanism
from nhalf.facts.applications import applications
from nhalf.facts.fact import REGISTRY, fact
from nhalf.facts.facts import Facts
from nhalf.facts.program.program import Program
from nhalf.present.findings import findings
from nhalf.present.report.page import page
from nhalf.present.terminal.applications import show_applications
from tests.nhalf.applied import Ran, applied
from tests.nhalf.synthetic import build_measurements
from tests.nhalf.traced_programs import program, sends_of, sent, stored

Make = Callable[..., pl.LazyFrame]

SUBJECTS = ("Facts", "Program")
HASHABLE = {"str", "int", "float", "bool", "Variants", "FittedModel"}
"""Types of further arguments of facts: a function of a table transforms it instead."""


def is_built() -> bool:
    try:
        return bool(native_files.executable("probe-model"))
    except NhalfError:
        return False


def modules() -> Iterator[ModuleType]:
    for entry in pkgutil.walk_packages(nhalf.facts.__path__, "nhalf.facts."):
        yield importlib.import_module(entry.name)


def facts_written(module: ModuleType) -> Iterator[str]:
    """The functions of a module whose arguments allow them to be facts."""
    for node in ast.parse(Path(str(module.__file__)).read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.args.args and not node.args.kwonlyargs:
            first, *others = (ast.unparse(a.annotation) for a in node.args.args if a.annotation)
            if first in SUBJECTS and set(others) <= HASHABLE:
                yield f"{module.__name__}.{node.name}"


def test_every_function_of_a_subject_is_a_fact() -> None:
    written = {name for module in modules() for name in facts_written(module)}
    assert len(written) > 80
    assert written <= set(REGISTRY)


class Counts:
    """How often each fact was computed, by its name, further arguments and subject."""

    def __init__(self) -> None:
        self.subjects: list[object] = []
        self.by_fact: Counter[tuple[object, ...]] = Counter()

    def count(self, function: Callable[..., Any], subject: object, arguments: object) -> None:
        numbers = [i for i, known in enumerate(self.subjects) if known is subject]
        if not numbers:
            self.subjects.append(subject)
        number = numbers[0] if numbers else len(self.subjects) - 1
        self.by_fact[f"{function.__module__}.{function.__qualname__}", arguments, number] += 1

    @property
    def names(self) -> set[str]:
        return {str(name).removeprefix("nhalf.facts.") for name, *_ in self.by_fact}

    def check_once(self, *expected: str) -> None:
        """Nothing was computed twice, and what is expected was computed."""
        assert {key: count for key, count in self.by_fact.items() if count > 1} == {}
        assert set(expected) <= self.names


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    counts, compute = Counts(), mechanism.compute

    def counted(function: Any, subject: object, *arguments: Any, **keywords: Any) -> Any:
        counts.count(function, subject, (arguments, tuple(sorted(keywords.items()))))
        return compute(function, subject, *arguments, **keywords)

    monkeypatch.setattr(mechanism, "compute", counted)
    return counts


def nhalf_in_process(*words: str | Path) -> None:
    command_line().main([str(word) for word in words], standalone_mode=False, prog_name="nhalf")


@pytest.mark.skipif(not is_built(), reason="the model probe was not built")
def test_a_run_with_its_report_computes_each_fact_once(
    counts: Counts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--transport", "model", "--model", "g=1e-6,G=1e-8", "--launches", "2", "--out", "r")
    for pattern, ranks in (
        ("pingpong,pingpong-ssend,exchange,stream,pingping,work-barrier", "2"),
        ("allreduce,bcast,barrier,ring,one-to-many,dense-pairwise,pairs-latency", "2,4"),
    ):
        counts.subjects.clear()
        counts.by_fact.clear()
        out = ("--pattern", pattern, "--ranks", ranks, "--bytes", "1,64,1K,16K", "--report")
        nhalf_in_process("run", *words[:-1], f"r{ranks}", *out)
        counts.check_once("facts.Facts.summary", "facts.Facts.launches", "extent.extent")
        assert len(counts.subjects) == 1


def test_the_report_of_applications_computes_each_fact_once(counts: Counts) -> None:
    runs = [
        Ran(kernel, mpi, workers)
        for kernel in ("cg", "mg")
        for mpi in ("mpich", "openmpi", "mpich+tournament", "")
        for workers in (1, 2, 4)
    ]
    facts = applied({ran: 8.0 / ran.workers * (1.3 if ran.mpi else 1) for ran in runs})
    page(facts)
    show_applications(applications(facts))
    counts.check_once(
        "applications.applications",
        "applications.application_launches",
        "applications.series_races",
        "applications.part_races",
    )


@pytest.mark.full
def test_a_report_on_many_patterns_computes_each_fact_once(
    counts: Counts,
    make_measurements: Make,
    make_logp: Make,
    make_rings: Make,
    make_traffic: Make,
    make_pair_map: Make,
) -> None:
    modes = ("pingpong", "pingpong-ssend", "exchange", "allreduce", "bcast", "memory-triad")
    frames = [
        make_measurements(libraries=("a", "b"), patterns=modes, slower={"b": 1.5}),
        *(make(mpi="a") for make in (make_logp, make_traffic)),
        make_rings(libraries=("a", "b")),
        make_pair_map(("n1", "n2", "n3"), mpi="a"),
    ]
    facts = Facts(pl.concat(frames, how="vertical_relaxed"), environments={"run": {}})
    for _ in range(2):
        page(facts)
        findings(facts)
    counts.check_once(
        "overview.overview", "contests.contests", "contests.leads", "series.logp_rows"
    )


def test_a_traced_program_computes_each_fact_once(
    counts: Counts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    messages = sent(sends_of(4, lambda rank: [(rank + 1) % 4]))
    timeline = [
        {"call": call, "kind": kind, "rank": rank, "partner": partner, "tag": 1}
        | {"start_s": 0.1, "end_s": 0.2}
        for rank in range(4)
        for call, kind, partner in (
            ("MPI_Send", "sent", (rank + 1) % 4),
            ("MPI_Recv", "received", (rank - 1) % 4),
        )
    ]
    folder = stored(program(4, messages, hosts=2, timeline=timeline), tmp_path / "trace")
    for words in (("report",), ("show",), ("show", "--json"), ("predict", "--program")):
        counts.by_fact.clear()
        counts.subjects.clear()
        if words[0] == "predict":
            known = Program.open(folder)
            page(known)
            findings(known)
        else:
            nhalf_in_process(*words, folder)
        counts.check_once("program.program.Program.ranks")
        assert len(counts.subjects) == 1


def test_a_comparison_computes_each_fact_once(
    counts: Counts, tmp_path: Path, make_measurements: Make
) -> None:
    from tests.nhalf.facts.test_facts import stored as stored_run

    paths = [
        stored_run(tmp_path / name, make_measurements(sizes=(1, 2, 4))).path for name in ("a", "b")
    ]
    nhalf_in_process("compare", *paths)
    nhalf_in_process("report", *paths, "--out", tmp_path / "both.html")
    counts.check_once("facts.Facts.summary")


def test_a_fact_is_kept_by_subject_and_arguments(counts: Counts) -> None:
    @fact
    def multiples(facts: Facts, factor: int = 1) -> Iterator[int]:
        yield from (facts.summary.height, factor * facts.summary.height)

    first, second = (Facts(build_measurements(sizes=sizes)) for sizes in ((1,), (1, 2)))
    assert multiples(first) == multiples(first, 1) == multiples(first, factor=1) == (1, 1)
    assert multiples(second) == (2, 2)
    assert multiples(first, 3) == (1, 3)
    assert multiples(first) is multiples(first, 1)
    assert sum("multiples" in name for name, *_ in counts.by_fact.elements()) == 3


def test_threads_wait_for_a_fact_that_is_being_computed() -> None:
    computed = []

    @fact
    def slow(facts: Facts) -> int:
        time.sleep(0.05)
        computed.append(facts)
        return 1

    facts = Facts(build_measurements(sizes=(1,)))
    threads = [threading.Thread(target=slow, args=(facts,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(computed) == 1


def test_a_fact_that_failed_is_computed_again() -> None:
    attempts = []

    @fact
    def failing(facts: Facts) -> int:
        attempts.append(facts)
        if len(attempts) < 2:
            raise ValueError("once")
        return len(attempts)

    facts = Facts(build_measurements(sizes=(1,)))
    with pytest.raises(ValueError, match="once"):
        failing(facts)
    assert failing(facts) == failing(facts) == 2
