"""What the library of a traced program says of itself (MPI_T), beside what the program did.

Open MPI and MPICH name no algorithm that ran, only those that are forced; an operation without one
is one of which the library does not say.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.jumps import EagerLimit, limits_in_use
from nhalf.facts.program.operations import operation
from nhalf.facts.program.program import Program
from nhalf.facts.reported import REPORTED, RULES_ON

QUEUE = "pml_ob1_unexpected_msgq_length"
"""Messages on MPI_COMM_WORLD that have arrived and that no receive has taken. Open MPI has it only
where its pml ob1 carries the messages, for which the limits of its btls hold."""
CELL = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE"
"""The limit of MPICH's device ch4 within a host."""
NO_MEMORY = "MPIR_CVAR_NOLOCAL"
_FORCED = re.compile(r"coll_tuned_(\w+)_algorithm|MPIR_CVAR_(\w+)_INTRA_ALGORITHM")
_LIBRARY = "traced"


@dataclass(frozen=True)
class EagerUse:
    """The eager limit between ranks of one host, the messages that they sent each other, and how
    many of these wait for their receivers: a limit counts a header, so those of its size do.
    """

    parameter: str
    size_bytes: int
    messages: int
    longer: int


@dataclass(frozen=True)
class ForcedAlgorithm:
    """An algorithm that the library was told to take for an operation; `is_taken` is False where
    another variable keeps it from doing so.
    """

    operation: str
    algorithm: str
    variable: str
    is_taken: bool = True


@fact
def eager_use(program: Program) -> EagerUse | None:
    """The messages of one host beside the limit; None where the library does not say which holds,
    or nothing was sent there.
    """
    limit = _limit(program)
    if limit is None:
        return None
    host = dict(enumerate(program.hosts))
    source, target = (pl.col(end).replace_strict(host, default="") for end in ("rank", "partner"))
    is_near = (source == target) & (source != "") & (pl.col("rank") != pl.col("partner"))
    near = program.sent.filter((pl.col("kind") == "sent") & is_near)
    longer = near.filter(pl.col("size_bytes") >= limit.size_bytes)
    counts = (int(rows["count"].sum()) for rows in (near, longer))
    return None if near.is_empty() else EagerUse(limit.parameter, limit.size_bytes, *counts)


@fact
def _limit(program: Program) -> EagerLimit | None:
    report = program.trace.mpi_t
    if report is None or program.trace.virtual is not None:
        return None
    names = ["btl_sm_eager_limit", "btl_vader_eager_limit"] if QUEUE in report.levels else []
    if "ch4" in report.version and report.variables.get(NO_MEMORY, "0") == "0":
        names.append(CELL)
    environment = {
        "eager_limits": {_LIBRARY: dict.fromkeys(names, 0)},
        REPORTED: {_LIBRARY: report.variables},
        "variables": {"OMPI_MCA_btl": report.variables.get("btl", "")},
    }
    reported = [
        limit
        for limit in limits_in_use(environment, _LIBRARY, "same-host")
        if limit.is_reported and limit.size_bytes > 0
    ]
    is_one = len({limit.size_bytes for limit in reported}) == 1
    return reported[0] if is_one else None


@fact
def forced_algorithms(program: Program) -> Iterator[ForcedAlgorithm]:
    """The forced algorithms of operations that the program calls."""
    report = program.trace.mpi_t
    if report is None:
        return
    called = {operation(call) for call in program.calls.filter(kind="collective")["call"].unique()}
    for variable, value in report.variables.items():
        match = _FORCED.fullmatch(variable)
        number, _, word = value.removesuffix(")").partition(" (")
        if match is None or {number, word} & {"0", "auto"} or not value:
            continue
        of_tuned, of_mpich = match.groups()
        name = (of_tuned or of_mpich).lower()
        is_taken = not of_tuned or not report.variables.get(RULES_ON, "1").startswith("0")
        if name in called:
            yield ForcedAlgorithm(name, word or number, variable, is_taken)


@fact
def unreceived(program: Program) -> int | None:
    """Messages that had arrived at rank 0 when it came to MPI_Finalize, and that it never received;
    None where the library does not say.
    """
    report = program.trace.mpi_t
    level = report.levels.get(QUEUE) if report else None
    return int(level) if level is not None and level.isdecimal() else None
