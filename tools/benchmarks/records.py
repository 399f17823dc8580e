"""Are the machines of record right? Each published figure, asked of every engine without itself."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import gallery_tables
from nhalf.decide.engine_names import ENGINES
from nhalf.machines import catalogue
from nhalf.studies.published.prover import TOLERANCES, JudgedFigure, Trial, prove

Record = dict[str, Any]
BY_SOURCE = "figures are those of {source}"
ALONE, SIBLINGS = "ratio", "sibling_ratio"


def measure(runs: int) -> tuple[Any, str]:
    """The trials of all machines; `runs` is not asked for, since all engines are exact."""
    trials = [prove(catalogue.machine(name), ENGINES) for name in catalogue.of_studies()]
    return [record(trial) for trial in trials], page(trials)


def record(trial: Trial) -> Record:
    """A trial as it is kept: ratios to the published figures."""
    return {
        "machine": trial.machine,
        "figures": [kept(row) for row in trial.rows],
        "alarms": [alarm._asdict() for alarm in trial.alarms],
        "cells": len(trial.agreement.cells),
        "apart": len(trial.agreement.apart),
        "unexplained": [
            [*cell.cell, round(cell.spread, 3)] for cell in trial.agreement.apart if not cell.reason
        ],
        "missing": dict(trial.agreement.missing),
    }


def kept(row: JudgedFigure) -> Record:
    """A figure, published, and the ratios of answers to it."""
    ratios = {engine: round(answer.ratio, 4) for engine, answer in row.answers.items()}
    figure = row.figure
    whole = {"figure": figure.words, "kind": figure.kind, figure.unit: figure.value}
    return {**whole, **ratios, "reason": row.miss.why} if row.miss else {**whole, **ratios}


def page(trials: Sequence[Trial]) -> str:
    """What the section says."""
    rows = [row for trial in trials for row in trial.rows]
    answered = sum(bool(row.answers) for row in rows)
    doubts = sum(len(trial.alarms) for trial in trials)
    cells = [cell for trial in trials for cell in trial.agreement.cells]
    apart = [cell for cell in cells if not cell.agrees]
    open_ones = [cell for cell in apart if not cell.reason]
    widest = max((cell.spread for cell in open_ones), default=0.0)
    return (
        "\n\n".join(
            [
                "# Published figures, each asked without itself",
                f"{answered} of {len(rows)} figures of {len(trials)} machines have an answer, "
                f"{doubts or 'none'} of them in doubt. Two engines or more answered "
                f"{len(cells)} cells without a choice of algorithm. In {len(apart)} they are more "
                "than 2 % apart, "
                + (
                    f"for a known reason but in {len(open_ones)}; those differ by {widest:.1%} at "
                    "most."
                    if open_ones
                    else "all for a known reason."
                ),
                "## What answers miss figures by",
                gallery_tables.table(
                    [
                        "question",
                        "figures",
                        "largest miss",
                        "tolerance",
                        "beside others",
                        "tolerance there",
                        "in doubt by others' misses",
                    ],
                    kinds(trials),
                ),
                *(
                    f"## {source}\n\n"
                    + gallery_tables.table(
                        ["machine", "question", "figures", *ENGINES, "known not to fit"], found
                    )
                    for source, found in by_source(trials)
                ),
            ]
        )
        + "\n"
    )


def kinds(trials: Sequence[Trial]) -> Iterator[list[str]]:
    """By kind of question: the largest misses of figures that should follow, and tolerances."""
    for kind, allowed in TOLERANCES.items():
        misses = {
            which: [
                (trial.machine, miss) for trial in trials for miss in misses_of(trial, kind, which)
            ]
            for which in (ALONE, SIBLINGS)
        }
        count = sum(
            1 for trial in trials for row in trial.rows if row.figure.kind == kind and row.answers
        )
        most = {
            which: max((miss for _, miss in found), default=1.0) for which, found in misses.items()
        }
        beyond = sum(
            miss > max((other for name, other in found if name != machine), default=math.inf)
            for found in misses.values()
            for machine, miss in found
        )
        yield [
            kind,
            str(count),
            f"{most[ALONE]:.2f}",
            f"{allowed.alone_ratio:g}",
            f"{most[SIBLINGS]:.2f}",
            f"{allowed.sibling_ratio:g}",
            str(beyond),
        ]


def misses_of(trial: Trial, kind: str, which: str) -> Iterator[float]:
    """By which factors the nearest engine misses the figures of a kind."""
    for row in trial.rows:
        if row.miss or row.figure.kind != kind:
            continue
        ratios = [getattr(answer, which) for answer in row.judges.values()]
        known = [ratio for ratio in ratios if ratio]
        if not known:
            continue
        # A bound is missed on one side only.
        sides = {0: lambda r: max(r, 1 / r), 1: lambda r: max(1, 1 / r), -1: lambda r: max(1, r)}
        yield min(map(sides[row.figure.bound], known))


def by_source(trials: Sequence[Trial]) -> Iterator[tuple[str, list[list[str]]]]:
    """The rows of each study's machines: median error and the widest by engine."""
    sources: dict[str, list[Trial]] = {}
    for trial in trials:
        source = catalogue.machine(trial.machine).source
        sources.setdefault(source.partition(",")[0], []).append(trial)
    for source, members in sorted(sources.items()):
        yield source, [line for trial in members for line in lines(trial)]


def lines(trial: Trial) -> Iterator[list[str]]:
    """A machine's rows, one for each kind of question."""
    for kind in (*TOLERANCES, ""):
        rows = [row for row in trial.rows if row.figure.kind == kind]
        if not rows:
            continue
        told = [errors(rows, engine) for engine in ENGINES]
        known = sum(row.miss is not None for row in rows)
        yield [
            f"`{trial.machine}`",
            kind or "nobody answers",
            str(len(rows)),
            *told,
            str(known or ""),
        ]


def errors(rows: Sequence[JudgedFigure], engine: str) -> str:
    """The median error and the widest one."""
    found = [row.answers[engine].ratio - 1 for row in rows if engine in row.answers]
    if not found:
        return ""
    middle, widest = statistics.median(found), max(found, key=abs)
    return f"{100 * middle:+.0f} % ({100 * widest:+.0f} %)"
