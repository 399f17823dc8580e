"""Why a traced program takes so long, in a few lines and as JSON: what it loses, where, to whom."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from nhalf.base.numbers import percent
from nhalf.base.rows import Row, members
from nhalf.base.units import format_size, format_time
from nhalf.decide.program.basis import efficiency, is_disturbed, shown_run, traced_run
from nhalf.decide.program.tolerance_curves import tolerances
from nhalf.facts.program import calls
from nhalf.facts.program import messages as message_facts
from nhalf.facts.program.critical_path import critical_path
from nhalf.facts.program.delays import delays
from nhalf.facts.program.program import Program
from nhalf.facts.program.shape.naming import communication_shape
from nhalf.facts.program.states import rate_phases, rates_over_time
from nhalf.facts.program.waits import arrivals, late_pairs, waiting_by_cause
from nhalf.present.findings import as_json as finding_json
from nhalf.present.findings import findings
from nhalf.present.program.findings.messages import library_json
from nhalf.present.program.tolerance import tolerance_lines
from nhalf.present.program.verdict import others_json, others_lines, sharing_lines, verdict_alone

ROUNDED = 10.0
"""From this number on a size that is one of many needs no fraction."""


def size_span(least_bytes: int, most_bytes: int) -> str:
    """'98 to 291 KiB', '8 B to 4 KiB', or one size."""
    least, most = format_size(least_bytes), format_size(most_bytes)
    if least == most:
        return most
    rounded = []
    for number, unit in (least.split(" "), most.split(" ")):
        rounded.append((f"{float(number):.0f}" if float(number) >= ROUNDED else number, unit))
    (number, unit), (most_number, most_unit) = rounded
    return f"{number if unit == most_unit else f'{number} {unit}'} to {most_number} {most_unit}"


SHOWN = 3
"""Causes, calls and operations; --json has all."""
UNTIMED: dict[str, list[Any]] = {"tolerance": [], "delays": [], "most_expensive": []}
SHARE_MIN = 0.005
"""Smaller shares are not shown."""
MOSTLY = 0.5


def answer_lines(program: Program) -> list[str]:
    """What others took, the verdict, the tree of efficiencies, the critical path, who makes others
    wait, and what costs most, all of the run that shares refer to; without a timeline fewer of
    them, of a schedule none.
    """
    if not program.is_timed:
        return ["Its calls were not timed: nhalf predict says what they take on a machine."]
    shown = shown_run(program)
    parts = (_efficiency, _path, _tolerance, _delays, _operations)
    verdict = [line for line in [verdict_alone(shown)] if line]
    lines = [*others_lines(shown), *verdict, *sharing_lines(shown)]
    return [*lines, *(line for part in parts for line in part(shown))]


def answer_json(program: Program) -> dict[str, Any]:
    """The tree, the path, the delays and the operations as an object; null for what is unknown.

    `others` says which run they are of.
    """
    if not program.is_timed:
        return {**dict.fromkeys(("efficiency", "critical_path", "mpi_t")), **UNTIMED}
    shown = shown_run(program)
    tree, path = efficiency(shown), critical_path(shown)
    return {
        "others": others_json(program),
        "efficiency": None if tree is None else vars(tree),
        "critical_path": None
        if path is None
        else {
            "length_s": path.length_s,
            "computing_s": sum(path.computing_s.values()),
            "before_s": path.before_s,
            "ranks": [
                {"rank": rank, "computing_s": seconds}
                for rank, seconds in sorted(path.computing_s.items())
            ],
            "calls": [
                {"call": call, "time_s": seconds} for call, seconds in _descending(path.calls_s)
            ],
        },
        "tolerance": []
        if is_disturbed(shown)
        else [vars(tolerance) for tolerance in tolerances(traced_run(program))],
        "delays": delays(shown).to_dicts(),
        "most_expensive": calls.most_expensive(shown).head(SHOWN).to_dicts(),
        "mpi_t": library_json(shown),
    }


def _tolerance(program: Program) -> Iterator[str]:
    """Its replays know themselves what others took."""
    if not is_disturbed(program):
        yield from tolerance_lines(traced_run(program))


def _efficiency(program: Program) -> Iterator[str]:
    tree = efficiency(program)
    if tree is None:
        if program.elapsed_s > 0 and not is_disturbed(program):
            yield "No time passes between calls of MPI, so there is no efficiency to speak of."
        return
    yield (
        f"Parallel efficiency {percent(tree.parallel_share)} = load balance "
        f"{percent(tree.load_balance_share)} x communication {percent(tree.communication_share)}"
    )
    if tree.serialisation_share is not None and tree.transfer_share is not None:
        yield (
            f"Communication {percent(tree.communication_share)} = serialisation "
            f"{percent(tree.serialisation_share)} x transfer {percent(tree.transfer_share)}"
        )


def _path(program: Program) -> Iterator[str]:
    path = critical_path(program)
    if path is None or path.length_s <= 0:
        return
    whole_s, computing_s = path.length_s, sum(path.computing_s.values())
    parts = [f"computing {percent(computing_s / whole_s)}{_on_ranks(path.computing_s)}"]
    parts += [
        f"{call} {percent(seconds / whole_s)}"
        for call, seconds in _descending(path.calls_s)[:SHOWN]
        if seconds / whole_s >= SHARE_MIN
    ]
    yield f"Critical path: {', '.join(parts)}"


def _on_ranks(computing_s: dict[int, float]) -> str:
    """On how many ranks the path computes, and on which one most."""
    ranks = _descending({rank: seconds for rank, seconds in computing_s.items() if seconds > 0})
    if not ranks:
        return ""
    if len(ranks) == 1:
        return f" (on rank {ranks[0][0]})"
    share = ranks[0][1] / sum(seconds for _, seconds in ranks)
    return f" (on {len(ranks)} ranks, {percent(share)} of it on rank {ranks[0][0]})"


def _delays(program: Program) -> Iterator[str]:
    caused = delays(program)
    all_s = float(caused["waiting_s"].sum())
    whole_s = program.elapsed_s * program.ranks
    if whole_s <= 0 or all_s / whole_s < SHARE_MIN:
        return
    ranks = [row for row in caused.head(SHOWN).iter_rows(named=True)
             if row["waiting_s"] / all_s >= SHARE_MIN]  # fmt: skip
    causes = [
        f"{_part(row['waiting_s'] / all_s, place)} for rank {row['rank']} while it {_doing(row)}"
        for place, row in enumerate(ranks)
    ]
    yield (
        f"Ranks spend {percent(all_s / whole_s)} of their time waiting for late ranks, "
        f"{', '.join(causes)}"
    )


def _part(share: float, place: int) -> str:
    """'mostly (75 %)' of what is more than all others together."""
    if place > 0:
        return percent(share)
    return f"mostly ({percent(share)})" if share > MOSTLY else f"{percent(share)} of it"


def _doing(row: dict[str, float]) -> str:
    if row["taken_s"] > max(row["computing_s"], row["in_mpi_s"]):
        return "has no processor"
    return "computes" if row["computing_s"] >= row["in_mpi_s"] else "is in MPI"


def _operations(program: Program) -> Iterator[str]:
    rows = calls.most_expensive(program).head(SHOWN).iter_rows(named=True)
    operations = [_operation(row) for row in rows if (row["share"] or 0) >= SHARE_MIN]
    if operations:
        yield f"Most of the ranks' time in MPI: {', '.join(operations)}"


def _operation(row: dict[str, Any]) -> str:
    sizes = size_span(row["least_bytes"], row["most_bytes"])
    of_size = f" of {sizes}" if row["most_bytes"] else ""
    at_place = f" at {row['place']}" if row["place"] else ""
    each_s = row["time_s"] / max(1, row["count"])
    share = percent(row["share"])
    return f"{row['call']}{of_size}{at_place} {share} ({format_time(each_s)} each)"


def _descending(seconds: dict[Any, float]) -> list[tuple[Any, float]]:
    return sorted(seconds.items(), key=lambda item: (-item[1], item[0]))


TIMED = ("over_time", "phases", "time", "waiting", "late_messages", "arrivals")
"""What follows from times of calls, which a schedule does not have."""


def program_json(program: Program) -> dict[str, Any]:
    """Describe a traced program as one object: seconds, bytes, ranks of the world.

    Times and shares are those of the run that `others` names.
    """
    program = shown_run(program)
    described = {
        "run": str(program.path),
        "command": program.trace.command,
        "library": program.library,
        "ranks": program.ranks,
        "hosts": list(program.hosts),
        "elapsed_s": program.elapsed_s if program.is_timed else None,
        "complete": program.trace.complete,
        "exit_code": program.trace.exit_code,
        "messages": _messages(program),
        "calls": calls.time_by_call(program).rename({"waiting_s": "wait_s"}).to_dicts(),
        "over_time": rates_over_time(program).to_dicts(),
        "phases": rate_phases(program),
        "sends": _sends(program),
        "sizes": _sizes(program),
        "shape": members(
            communication_shape(program), "name", "words", "share", "partners", "evidence"
        ),
        "collectives": calls.collective_calls(program).to_dicts(),
        "call_sites": calls.call_sites(program).to_dicts(),
        "time": calls.time_by_rank(program).to_dicts(),
        "waiting": waiting_by_cause(program).to_dicts(),
        "late_messages": late_pairs(program).to_dicts(),
        "arrivals": arrivals(program).to_dicts(),
        "placement": _placement(program),
        **answer_json(program),
        "findings": [finding_json(finding) for finding in findings(program)],
    }
    return described if program.is_timed else described | {key: [] for key in TIMED}


def _messages(program: Program) -> list[Row]:
    """By pair, communicator, call and size; `bytes` is the sum over the messages."""
    keys = ["rank", "partner", "communicator", "call", "size_bytes"]
    sums = program.sent.group_by(keys).agg(pl.col("bytes", "count").sum()).sort(keys)
    return sums.rename({"rank": "from", "partner": "to"}).to_dicts()


def _sends(program: Program) -> dict[str, Any]:
    by_rank = message_facts.sends_by_rank(program)
    return {
        "messages": message_facts.spread(by_rank["messages"]),
        "bytes": message_facts.spread(by_rank["bytes"]),
        "destinations": message_facts.spread(by_rank["destinations"]),
        "destination_histogram": message_facts.destination_histogram(by_rank).to_dicts(),
        "by_rank": by_rank.to_dicts(),
        "by_communicator": program.sent.group_by("communicator")
        .agg(messages=pl.col("count").sum(), bytes=pl.col("bytes").sum())
        .sort("communicator")
        .to_dicts(),
    }


def _sizes(program: Program) -> dict[str, Any]:
    sizes = message_facts.message_sizes(program)
    messages, total = int(sizes["messages"].sum()), int(sizes["bytes"].sum())
    return {
        "mean_bytes": total / messages if messages else None,
        "median_bytes": message_facts.median_bytes(sizes),
        "distribution": sizes.to_dicts(),
        "histogram": message_facts.histogram(sizes).to_dicts(),
    }


def _placement(program: Program) -> dict[str, Any] | None:
    placement = message_facts.suggested_placement(program)
    if placement is None:
        return None
    hosts = list(dict.fromkeys(program.hosts))
    return {
        "host_of_rank": [hosts[group] for group in placement.groups],
        "between_hosts_bytes": placement.before_bytes,
        "saved_bytes": placement.saved_bytes,
    }
