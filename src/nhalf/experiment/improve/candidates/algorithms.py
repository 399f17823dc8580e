"""Another algorithm of the library for the collective calls that take most time, at their sizes."""

import math
from collections.abc import Iterator

from nhalf.base.errors import NhalfError
from nhalf.base.units import format_size
from nhalf.experiment.improve.call_cells import CallCell, call_cells
from nhalf.experiment.improve.candidates import CandidateSource
from nhalf.experiment.improve.change import (
    LEAST_SHARE,
    Candidate,
    LaunchChange,
    is_for_all,
    replaced_files,
)
from nhalf.experiment.improve.situation import Situation, upper_share
from nhalf.facts.program.operations import operation
from nhalf.facts.program.program import Program
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.switch import Affected
from nhalf.mpi.tuner import Tuner
from nhalf.mpi.vendors import vendor_of

CELLS_MAX = 3
"""The cells that take most; a search for more would take hours."""
PROMISE_SHARE = 0.1


class Algorithms(CandidateSource):
    """One for each algorithm of the library that suits the number of ranks, and for each cell."""

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """Rules for the very sizes and ranks where the library's file can hold them, else for all
        calls; none without a trace.
        """
        library, program = situation.library, situation.program
        if library is None or program is None:
            return
        tuner = vendor_of(library).tuner(library)
        if tuner is None:
            return
        nodes = len(set(program.hosts))
        tuner.placed(lambda ranks: nodes, shares_memory=not situation.is_virtual)
        for cell in most_expensive(program):
            for algorithm in tuner.algorithms(cell.operation):
                if tuner.suits(cell.operation, algorithm, cell.ranks):
                    yield _candidate(situation, tuner, cell, rule_of(tuner, cell, algorithm))


def most_expensive(program: Program) -> list[CallCell]:
    """The cells in which another algorithm may save most, if that is enough to matter."""
    cells = [(upper_share(program, cell.affected), cell) for cell in call_cells(program)]
    cells.sort(key=lambda entry: (-entry[0], entry[1].operation, entry[1].from_bytes))
    return [cell for share, cell in cells[:CELLS_MAX] if share >= LEAST_SHARE]


def rule_of(tuner: Tuner, cell: CallCell, algorithm: str) -> Rule:
    """The algorithm for a cell as the library's file can hold it; for all calls where it cannot."""
    to_bytes = cell.to_bytes if cell.operation != "barrier" else math.inf
    narrow = Rule(cell.operation, cell.ranks, cell.ranks, cell.from_bytes, to_bytes, algorithm)
    everywhere = Rule(cell.operation, 0, math.inf, 0, math.inf, algorithm)
    try:
        held = tuner.expressible([narrow]) if tuner.writable(cell.operation, algorithm) else []
        tuner.text(held)
    except NhalfError:
        return everywhere
    return held[0] if held else everywhere


def _candidate(situation: Situation, tuner: Tuner, cell: CallCell, rule: Rule) -> Candidate:
    program, library = situation.program, situation.library
    assert program is not None
    assert library is not None
    where = "" if is_for_all(rule) else _where(cell, rule, situation.ranks)
    replaced = replaced_files(tuner, situation.launch.variables)
    instead = f" instead of {replaced[0].path.name}" if replaced else ""
    return situation.candidate(
        f"{rule.operation}{where} by {rule.algorithm}{instead}",
        f"the library's algorithm {rule.algorithm} for every {rule.operation}{where}",
        f"leave out its choice for {rule.operation}{where}",
        LaunchChange(rules=(rule,), tuner=tuner, honoured_by=library.vendor),
        _reached(situation, tuner, cell, rule),
        PROMISE_SHARE,
        upper_share(program, cell.affected),
    )


def _where(cell: CallCell, rule: Rule, ranks: int) -> str:
    """' of 8 B to 32 B on 4 ranks', as far as the rule says so."""
    words = ""
    if math.isfinite(rule.to_bytes):
        words = f" of {format_size(rule.from_bytes)}"
        words += f" to {format_size(rule.to_bytes)}" if rule.to_bytes > rule.from_bytes else ""
    is_apart = rule.from_ranks == rule.to_ranks != ranks
    return words + (f" on {cell.ranks} ranks" if is_apart else "")


def _reached(situation: Situation, tuner: Tuner, cell: CallCell, rule: Rule) -> Affected:
    """The calls that a rule can affect."""
    assert situation.program is not None
    reach = tuner.reach(rule.operation, rule.algorithm)
    if reach == "collectives":
        names = situation.program.calls["call"].unique().to_list()
        return Affected(operations=tuple(sorted({operation(name) for name in names})))
    if reach == "operations" or is_for_all(rule):
        return Affected(operations=cell.affected.operations)
    return cell.affected
