"""Programs and machines whose replays are known in closed form: T(n) = t0 + n/r."""

from __future__ import annotations

from typing import Any

from nhalf.decide.program.costs import MachineCosts
from nhalf.decide.program.replay import replay
from nhalf.decide.program.target import hosts_of
from nhalf.facts.program.disturbance import undisturbed
from nhalf.facts.program.program import Program
from nhalf.machines.machine import FittedModel, Machine, PatternModel, Protocol, Segment
from nhalf.machines.message import Messages
from tests.nhalf.traced_programs import program

T0_S, RATE_BPS = 1e-3, 1e6
RENDEZVOUS_BYTES = 65536


def curve(t0_s: float, placement: str) -> FittedModel:
    segment = Segment(
        from_bytes=0, to_bytes=1 << 30, t0_s=t0_s, r_inf_Bps=RATE_BPS, n_half_bytes=t0_s * RATE_BPS
    )
    return FittedModel(
        transport="mpi", mpi="a", pattern="pingpong", ranks=2, placement=placement,
        segments=(segment,),
    )  # fmt: skip


def machine(slower: float = 1.0, patterns: tuple[PatternModel, ...] = ()) -> Machine:
    return Machine(
        name="known",
        models=(curve(T0_S * slower, "cores"), curve(10 * T0_S * slower, "other-node")),
        patterns=patterns,
        protocol=Protocol(rendezvous_bytes=RENDEZVOUS_BYTES),
    )


def message_s(size_bytes: int, slower: float = 1.0) -> float:
    return T0_S * slower + size_bytes / RATE_BPS


def call(
    name: str, kind: str, rank: int, partner: int, span: tuple[float, float], **more: Any
) -> dict[str, Any]:
    times = {"start_s": span[0], "end_s": span[1]}
    return {"call": name, "kind": kind, "rank": rank, "partner": partner, **times, **more}


def ping_pong(rounds: int, size_bytes: int, computing_s: float = 0.0) -> Program:
    """As measured on that machine: a rank computes, sends, and receives the answer."""
    whole_s = message_s(size_bytes)
    rows, now_s = [], 0.0
    for number in range(2 * rounds):
        source, target = number % 2, 1 - number % 2
        begin_s = now_s + computing_s
        send = (begin_s, begin_s + whole_s / 2)
        rows.append(call("MPI_Send", "sent", source, target, send, size_bytes=size_bytes))
        begun_s = 0.0 if number == 0 else now_s - whole_s / 2
        taken = (begun_s, begin_s + whole_s)
        rows.append(call("MPI_Recv", "received", target, source, taken, size_bytes=size_bytes))
        now_s = begin_s + whole_s
    return with_counts(rows, 2, now_s)


def with_counts(rows: list[dict[str, Any]], ranks: int, elapsed_s: float) -> Program:
    """A program with the counts that belong to its timeline."""
    calls: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = (row["rank"], row["call"], row["kind"], row["partner"], row.get("size_bytes", 0))
        spent_s = row["end_s"] - row["start_s"]
        one = calls.setdefault(
            key,
            {**{n: row.get(n, 0) for n in ("rank", "call", "kind", "partner", "size_bytes")},
             "count": 0, "bytes": 0, "time_s": 0.0, "min_s": spent_s, "max_s": 0.0},
        )  # fmt: skip
        one["count"] += 1
        one["bytes"] += row.get("size_bytes", 0)
        one["time_s"] += spent_s
        one["min_s"] = min(one["min_s"], spent_s)
    return program(ranks, calls.values(), timeline=rows, elapsed_s=elapsed_s)


def replayed_s(made: Program, on: Machine, placement: str = "") -> float:
    return replay(undisturbed(made), MachineCosts(Messages(on), hosts_of(made, placement))).end_s


def model_of(pattern: str, time_s: float) -> PatternModel:
    return PatternModel(
        transport="mpi", mpi="a", pattern=pattern, from_ranks=2, startup_s={"1": time_s}
    )  # fmt: skip
