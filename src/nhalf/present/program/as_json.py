"""What `nhalf show TRACE --json` prints."""

from __future__ import annotations

from typing import Any

import polars as pl

from nhalf.base.rows import Row
from nhalf.decide.program.basis import shown_run
from nhalf.facts.program.calls import call_sites, collective_calls, time_by_call, time_by_rank
from nhalf.facts.program.messages import (
    destination_histogram,
    histogram,
    median_bytes,
    message_sizes,
    sends_by_rank,
    spread,
    suggested_placement,
)
from nhalf.facts.program.program import Program
from nhalf.facts.program.shape.naming import communication_shape
from nhalf.facts.program.states import rate_phases, rates_over_time
from nhalf.facts.program.waits import arrivals, late_pairs, waiting_by_cause
from nhalf.present.findings import as_json as finding_json
from nhalf.present.findings import findings
from nhalf.present.program.answer import answer_json

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
        "calls": _calls(program),
        "over_time": rates_over_time(program).to_dicts(),
        "phases": rate_phases(program),
        "sends": _sends(program),
        "sizes": _sizes(program),
        "shape": _shape(program),
        "collectives": collective_calls(program).to_dicts(),
        "call_sites": call_sites(program).to_dicts(),
        "time": time_by_rank(program).to_dicts(),
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


def _calls(program: Program) -> list[Row]:
    return time_by_call(program).rename({"waiting_s": "wait_s"}).to_dicts()


def _sends(program: Program) -> dict[str, Any]:
    by_rank = sends_by_rank(program)
    return {
        "messages": spread(by_rank["messages"]),
        "bytes": spread(by_rank["bytes"]),
        "destinations": spread(by_rank["destinations"]),
        "destination_histogram": destination_histogram(by_rank).to_dicts(),
        "by_rank": by_rank.to_dicts(),
        "by_communicator": program.sent.group_by("communicator")
        .agg(messages=pl.col("count").sum(), bytes=pl.col("bytes").sum())
        .sort("communicator")
        .to_dicts(),
    }


def _sizes(program: Program) -> dict[str, Any]:
    sizes = message_sizes(program)
    messages, total = int(sizes["messages"].sum()), int(sizes["bytes"].sum())
    return {
        "mean_bytes": total / messages if messages else None,
        "median_bytes": median_bytes(sizes),
        "distribution": sizes.to_dicts(),
        "histogram": histogram(sizes).to_dicts(),
    }


def _shape(program: Program) -> dict[str, Any]:
    shape = communication_shape(program)
    return {
        "name": shape.name,
        "words": shape.words,
        "share": shape.share,
        "partners": shape.partners,
        "evidence": shape.evidence,
    }


def _placement(program: Program) -> dict[str, Any] | None:
    placement = suggested_placement(program)
    if placement is None:
        return None
    hosts = list(dict.fromkeys(program.hosts))
    return {
        "host_of_rank": [hosts[group] for group in placement.groups],
        "between_hosts_bytes": placement.before_bytes,
        "saved_bytes": placement.saved_bytes,
    }
