# SPDX-License-Identifier: Apache-2.0
"""What `nhalf show TRACE --json` prints."""

from __future__ import annotations

from typing import Any

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.program.program import Program
from nhalf.facts.program.sends import destination_histogram, spread
from nhalf.facts.program.sizes import histogram, median_bytes
from nhalf.present.findings import as_json as finding_json
from nhalf.present.findings import findings


def program_json(program: Program) -> dict[str, Any]:
    """Describe a traced program as one object: seconds, bytes, ranks of the world."""
    return {
        "run": str(program.path),
        "command": program.trace.command,
        "library": program.trace.library,
        "ranks": program.ranks,
        "hosts": list(program.hosts),
        "elapsed_s": program.elapsed_s,
        "complete": program.trace.complete,
        "exit_code": program.trace.exit_code,
        "messages": _messages(program),
        "calls": _calls(program),
        "over_time": program.over_time.to_dicts(),
        "phases": program.phases,
        "sends": _sends(program),
        "sizes": _sizes(program),
        "shape": _shape(program),
        "collectives": program.collectives.to_dicts(),
        "time": program.time_by_rank.to_dicts(),
        "waiting": program.waiting.to_dicts(),
        "late_messages": program.late_messages.to_dicts(),
        "arrivals": program.arrivals.to_dicts(),
        "placement": _placement(program),
        "findings": [finding_json(finding) for finding in findings(program)],
    }


def _messages(program: Program) -> list[Row]:
    """By pair, communicator, call and size; `bytes` is the sum over the messages."""
    keys = ["rank", "partner", "communicator", "call", "size_bytes"]
    sums = program.sent.group_by(keys).agg(pl.col("bytes", "count").sum()).sort(keys)
    return sums.rename({"rank": "from", "partner": "to"}).to_dicts()


def _calls(program: Program) -> list[Row]:
    return program.time_by_call.rename({"waiting_s": "wait_s"}).to_dicts()


def _sends(program: Program) -> dict[str, Any]:
    by_rank = program.sends
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
    sizes = program.sizes
    messages, total = int(sizes["messages"].sum()), int(sizes["bytes"].sum())
    return {
        "mean_bytes": total / messages if messages else None,
        "median_bytes": median_bytes(sizes),
        "distribution": sizes.to_dicts(),
        "histogram": histogram(sizes).to_dicts(),
    }


def _shape(program: Program) -> dict[str, Any]:
    shape = program.shape
    return {
        "name": shape.name,
        "words": shape.words,
        "share": shape.share,
        "partners": shape.partners,
        "evidence": shape.evidence,
    }


def _placement(program: Program) -> dict[str, Any] | None:
    placement = program.placement
    if placement is None:
        return None
    hosts = list(dict.fromkeys(program.hosts))
    return {
        "host_of_rank": [hosts[group] for group in placement.groups],
        "between_hosts_bytes": placement.before_bytes,
        "saved_bytes": placement.saved_bytes,
    }
