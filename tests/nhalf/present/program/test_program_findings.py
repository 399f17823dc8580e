"""A finding is made where the trace holds it, with its numbers, and not elsewhere."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.facts.program.program import Program
from nhalf.present.findings import Finding, findings
from nhalf.present.program.verdict import program_verdict
from tests.nhalf.traced_programs import program, sends_of, sent


def found(made: Program, kind: str) -> Finding | None:
    same = [finding for finding in findings(made) if finding.kind == kind]
    assert len(same) <= 1
    return same[0] if same else None


def text(made: Program, kind: str) -> str:
    one = found(made, kind)
    assert one is not None
    return f"{one.text} {one.remedy}"


def torus(rank: int) -> list[int]:
    row, column = divmod(rank, 4)
    return [(row + by) % 4 * 4 + column for by in (1, -1)] + [
        row * 4 + (column + by) % 4 for by in (1, -1)
    ]


def ring(size_bytes: int = 8, **more: Any) -> list[dict[str, Any]]:
    return sent(sends_of(8, lambda rank: [(rank + 1) % 8]), size_bytes, **more)


def test_a_latency_bound_stencil_says_so() -> None:
    rows = sent(sends_of(16, torus, 78), 512) + sent(sends_of(16, torus, 22), 4096)
    said = text(program(16, rows), "shape")
    assert "78 % of the messages are below 1 KiB and a rank sends to 4 partners" in said
    assert "a latency-bound 2-D stencil on 4 x 4 ranks, periodic" in said


def test_large_messages_are_bandwidth_bound() -> None:
    assert "bandwidth-bound ring of 8 ranks, one way" in text(program(8, ring(2**20)), "shape")


def test_a_pair_is_a_grammatical_sentence_without_a_headline_of_a_hundred_percent() -> None:
    made = found(program(2, sent({(0, 1): 5, (1, 0): 5}, 8)), "shape")
    assert made is not None
    assert made.text == (
        "All messages are between ranks 0 and 1. All messages are of 8 B: latency-bound."
    )
    assert made.figure == "pair"


def in_mpi(*times_s: float, **more: Any) -> Program:
    calls = [
        {"call": "MPI_Recv", "kind": "received", "rank": rank, "partner": -1, "time_s": time_s}
        for rank, time_s in enumerate(times_s)
    ]
    return program(len(times_s), calls, **more)


@pytest.mark.parametrize(
    ("times_s", "verdict"),
    [
        (
            (0.9, 0.8),
            "85 % of the run is in MPI (by rank 80 % to 90 %), most of it in MPI_Recv: faster "
            "communication can save 85 % at most.",
        ),
        (
            (0.01, 0.01),
            "1 % of the run is in MPI, most of it in MPI_Recv: faster communication can save 1 % "
            "at most. Look at the computing first.",
        ),
        ((0.0, 0.0), ""),
    ],
)
def test_the_verdict_is_the_share_in_mpi(times_s: tuple[float, ...], verdict: str) -> None:
    assert program_verdict(in_mpi(*times_s)) == verdict


def test_the_verdict_names_what_to_look_at_first() -> None:
    made = program(4, [collective(rank) for rank in range(4)])
    assert program_verdict(made).startswith(
        "First: Choose its algorithm: nhalf tune --pattern allreduce --ranks 4. "
    )


def test_no_messages_have_no_shape() -> None:
    assert findings(program(8)) == []


def collective(rank: int, **more: Any) -> dict[str, Any]:
    usual = {"call": "MPI_Allreduce", "kind": "collective", "partner": -2, "size_bytes": 8}
    return {**usual, "count": 100, "bytes": 800, "time_s": 0.4, "rank": rank, **more}


def test_a_costly_collective_names_its_remedy() -> None:
    said = text(program(4, [collective(rank) for rank in range(4)]), "costly-collective")
    assert "MPI_Allreduce of 8 B takes 40 % of the run: 100 operations among 4 ranks, 4 ms" in said
    assert "nhalf tune --pattern allreduce --ranks 4" in said
    waiting = [collective(rank, waiting_s=0.3) for rank in range(4)]
    assert "nhalf tune" not in text(program(4, waiting), "costly-collective")
    cheap = [collective(rank, time_s=0.01) for rank in range(4)]
    assert found(program(4, cheap), "costly-collective") is None


def test_the_rank_that_waits_is_named_with_its_cause() -> None:
    row = {"call": "MPI_Recv", "kind": "received", "partner": 0, "count": 1}
    rows = [{**row, "rank": rank, "waiting_s": 0.31 if rank == 5 else 0.01} for rank in range(8)]
    said = text(program(8, rows), "waiting")
    assert "Rank 5 waits for 31 % of the run, mostly for messages that are sent late" in said
    assert "waits least (1 %): rebalance the work" in said
    equal = [{**row, "rank": rank, "waiting_s": 0.2} for rank in range(8)]
    assert text(program(8, equal), "waiting").startswith("Ranks wait for 20 % of the run")
    assert found(program(8, [row]), "waiting") is None


def test_a_better_placement_is_computed_with_what_it_saves() -> None:
    said = text(program(8, ring(2**20), hosts=2), "placement")
    assert "80 MiB go from node to node" in said
    assert "sends 60 MiB less (75 %)" in said
    assert "Place ranks as node0: " in said
    assert found(program(8, ring(2**20)), "placement") is None


def test_a_rank_that_computes_longer_is_named() -> None:
    rows = [collective(rank, time_s=0.1 if rank == 3 else 0.5) for rank in range(8)]
    said = text(program(8, rows), "imbalance")
    assert "Rank 3 spends 1.64x the mean time of all ranks outside MPI" in said
    assert "up to 35 % shorter" in said


def test_a_master_is_hot() -> None:
    sends = {(rank, 0): 10 for rank in range(1, 8)} | {(0, rank): 1 for rank in range(1, 8)}
    assert "Rank 0 receives 91 % of all messages" in text(program(8, sent(sends)), "hot-rank")
    assert found(program(8, ring()), "hot-rank") is None


def test_phases_are_told() -> None:
    bins = [
        {"kind": "sent", "start_s": 0.1 * at, "width_s": 0.1, "count": 10 if at < 10 else 1000}
        for at in range(20)
    ]
    assert "2 phases" in text(program(2, bins=bins), "phases")


def test_an_incomplete_trace_says_so_first() -> None:
    made = program(4, ring())
    ranks = [*made.trace.ranks[:3], msgspec.structs.replace(made.trace.ranks[3], finished=False)]
    cut = msgspec.structs.replace(made.trace, complete=False, ranks=ranks, notes=["Killed."])
    first = findings(
        Program(made.path, cut, made.calls, made.bins, made.timeline, made.communicators)
    )[0]
    assert first.kind == "incomplete"
    assert "Rank 3 did not reach MPI_Finalize. Killed." in first.text


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_few_ranks_have_findings_without_errors(ranks: int) -> None:
    made = program(ranks, [collective(rank) for rank in range(ranks)])
    assert all(finding.text for finding in findings(made))


def test_ranks_on_one_processor_are_parted_before_anything_else() -> None:
    made = in_mpi(0.9, 0.8)
    for record in made.trace.ranks:
        record.processors = (0,)
    assert program_verdict(made).startswith(
        "Main cause: 2 ranks share 1 processor; bind each rank to its own processor, or start "
        "fewer ranks on a node. 85 % of the run is in MPI"
    )
    assert "can save" not in program_verdict(made)
