"""What a library says of itself is a finding where it concerns what the program did."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.facts.program.program import Program
from nhalf.measure.traced.layout import LibraryReport
from nhalf.present.findings import findings
from nhalf.present.program.findings.messages import (
    BeyondEagerLimit,
    ForcedAlgorithms,
    NeverReceived,
    library_json,
)
from tests.nhalf.traced_programs import program, sent

OB1 = {"pml_ob1_unexpected_msgq_length": "0"}
OPEN_MPI = LibraryReport(
    804, 20, {"btl_sm_eager_limit": "4096", "btl_vader_eager_limit": "4096"}, OB1, "Open MPI v5"
)
MPICH = LibraryReport(
    466, 0, {"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "8192"}, {}, "MPICH Device: ch4:ofi"
)
SIZES = ((4095, 6), (4096, 3), (8192, 1))


def program_with(report: LibraryReport | None, **more: Any) -> Program:
    """Ranks 0 and 1 send each other ten messages, six of them short."""
    rows = [row for size, count in SIZES for row in sent({(0, 1): count}, size)]
    rows += [{"call": "MPI_Ibcast", "kind": "collective", "rank": 0, "partner": 0, "count": 1}]
    made = program(2, rows, **more)
    made.trace.mpi_t = report
    return made


def texts(made: Program) -> dict[str, str]:
    finders = (BeyondEagerLimit(), ForcedAlgorithms(), NeverReceived())
    return {each.kind: each.text for finder in finders for each in finder.find(made)}


def changed(report: LibraryReport, **more: Any) -> LibraryReport:
    values = {name: getattr(report, name) for name in report.__struct_fields__}
    return LibraryReport(**{**values, **more})


def test_messages_of_the_limit_and_longer_wait_for_their_receivers() -> None:
    assert texts(program_with(OPEN_MPI)) == {
        "beyond-eager-limit": "40 % of the messages between ranks of one host (4 of 10) are of 4 "
        "KiB or more, which is btl_sm_eager_limit by MPI_T: they wait for their receivers "
        "(rendezvous)."
    }
    assert "(1 of 10) are of 8 KiB or more" in texts(program_with(MPICH))["beyond-eager-limit"]
    assert [each.text for each in findings(program_with(OPEN_MPI)) if each.label == "Eager limit"]


@pytest.mark.parametrize(
    "report",
    [
        None,
        LibraryReport(),
        changed(OPEN_MPI, levels={}),  # another pml carries the messages
        changed(OPEN_MPI, variables={}),
        changed(OPEN_MPI, variables={**OPEN_MPI.variables, "btl": "tcp,self"}),
        changed(OPEN_MPI, variables={**OPEN_MPI.variables, "btl_sm_eager_limit": "2048"}),
        changed(OPEN_MPI, variables={"btl_sm_eager_limit": "0"}),
        changed(MPICH, version="MPICH Device: ch3:nemesis"),
        changed(MPICH, variables={**MPICH.variables, "MPIR_CVAR_NOLOCAL": "1"}),
        changed(MPICH, variables={"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "-1"}),
    ],
)
def test_a_limit_that_is_not_known_to_hold_is_no_finding(report: LibraryReport | None) -> None:
    made = program_with(report)
    assert texts(made) == {}
    described = library_json(made)
    assert described is None if report is None else described is not None
    assert described is None or described["eager"] is None


def test_messages_to_other_hosts_and_short_ones_are_no_finding() -> None:
    assert texts(program_with(OPEN_MPI, hosts=2)) == {}
    made = program(2, sent({(0, 1): 5}, 8))
    made.trace.mpi_t = OPEN_MPI
    assert texts(made) == {}
    described = library_json(made)
    assert described is not None
    assert described["eager"]["longer"] == 0


@pytest.mark.parametrize(
    ("variables", "kind", "text"),
    [
        (
            {"coll_tuned_bcast_algorithm": "6 (binomial)", "coll_tuned_scan_algorithm": "1 (x)"},
            "forced-algorithm",
            "A setting forces algorithms (MPI_T): binomial for bcast. Which ones ran, the library "
            "does not say.",
        ),
        (
            {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "1"},
            "forced-algorithm",
            "A setting forces algorithms (MPI_T): number 1 for bcast. Which ones ran, the library "
            "does not say.",
        ),
        (
            {
                "coll_tuned_bcast_algorithm": "6 (binomial)",
                "coll_tuned_use_dynamic_rules": "0 (false)",
            },
            "setting-ignored",
            "coll_tuned_bcast_algorithm is binomial, but coll_tuned_use_dynamic_rules is off "
            "(MPI_T): the setting did not take effect.",
        ),
    ],
)
def test_forced_algorithms_of_operations_that_are_called(
    variables: dict[str, str], kind: str, text: str
) -> None:
    assert texts(program_with(LibraryReport(1, 1, variables))) == {kind: text}


@pytest.mark.parametrize("value", ["0", "0 (ignore)", "auto", ""])
def test_no_algorithm_is_forced(value: str) -> None:
    variables = {
        "coll_tuned_bcast_algorithm": value,
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": value,
    }
    assert texts(program_with(LibraryReport(1, 1, variables))) == {}


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("0", ""),
        ("1", "1 message to rank 0 had arrived by MPI_Finalize without ever being received"),
        ("3", "3 messages to rank 0 had arrived by MPI_Finalize without ever being received"),
    ],
)
def test_messages_that_were_never_received(level: str, text: str) -> None:
    made = program_with(LibraryReport(levels={"pml_ob1_unexpected_msgq_length": level}))
    assert texts(made).get("never-received", "").partition(" (")[0] == text
