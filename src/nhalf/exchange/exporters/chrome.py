"""The calls and messages of a traced program for Perfetto and chrome://tracing.

Each rank is a process, each thread a thread, each call a slice ("X", microseconds); a message is a
flow from its send to the end of its receive ("s" to "f"). A receive that was begun before has no
slice of its own, since slices of a thread have to nest: its flow ends in the wait that completed
it. Without a timeline there are counters ("C"): bytes sent by each rank in each span of time.
The format is the "Trace Event Format" of Chromium (N. Duca, D. Sinclair, 2016).
"""

from collections.abc import Iterator

import msgspec
import polars as pl

from nhalf.base.rows import Row
from nhalf.exchange.exporters import Exporter, Subject, the_program
from nhalf.facts.program.operations import is_begun_before
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import messages, numbered

MICRO = 1e6
INSIDE_US = 1e-3
"""A flow ends this long before the end of its slice, to lie inside it."""


def chrome_events(program: Program) -> Iterator[Row]:
    """All events, names of ranks first."""
    for rank, host in enumerate(program.hosts):
        name = f"rank {rank}" + (f" ({host})" if host else "")
        yield {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": name}}
        yield {"ph": "M", "name": "process_sort_index", "pid": rank, "args": {"sort_index": rank}}
    if program.timeline.is_empty():
        yield from _counters(program)
        return
    calls = numbered(program)
    yield from _slices(calls)
    yield from _flows(calls, messages(program))


def _slices(calls: pl.DataFrame) -> Iterator[Row]:
    for row in calls.iter_rows(named=True):
        if row["kind"] == "received" and is_begun_before(row["call"]):
            continue
        yield {
            **{"ph": "X", "name": row["call"], "cat": row["kind"]},
            **{"pid": row["rank"], "tid": row["thread"]},
            **{"ts": _us(row["start_s"]), "dur": _us(row["end_s"] - row["start_s"])},
            "args": {
                name: row[name]
                for name in ("partner", "size_bytes", "tag", "communicator", "waiting_s")
            },
        }


def _flows(calls: pl.DataFrame, pairs: pl.DataFrame) -> Iterator[Row]:
    """Two events for each message of which both ends were traced."""
    sends, receives = (calls[pairs[rows]] for rows in ("row", "row_received"))
    flows = pl.concat([sends, receives.select(pl.all().name.suffix("_receive"))], how="horizontal")
    for number, row in enumerate(flows.sort("start_s", maintain_order=True).iter_rows(named=True)):
        usual = {"name": "message", "cat": "message", "id": number}
        begin = {"pid": row["rank"], "tid": row["thread"], "ts": _us(row["start_s"])}
        end_us = max(_us(row["start_s_receive"]), _us(row["end_s_receive"]) - INSIDE_US)
        end = {"pid": row["rank_receive"], "tid": row["thread_receive"], "ts": end_us}
        yield {"ph": "s", **usual, **begin}
        yield {"ph": "f", "bp": "e", **usual, **end}


def _counters(program: Program) -> Iterator[Row]:
    """Bytes sent in each span, and 0 at the begin of a span without any."""
    sent = program.bins.filter(pl.col("kind") == "sent")
    keys = ["rank", "start_s", "width_s"]
    sums = sent.group_by(keys).agg(pl.col("bytes", "count").sum()).sort(keys)
    rows = sums.to_dicts()
    for at, row in enumerate(rows):
        yield _counter(row["rank"], row["start_s"], row["bytes"])
        end_s = row["start_s"] + row["width_s"]
        following = rows[at + 1] if at + 1 < len(rows) else None
        goes_on = following is not None and following["rank"] == row["rank"]
        if not goes_on or (following and following["start_s"] > end_s + 0.5 * row["width_s"]):
            yield _counter(row["rank"], end_s, 0)


def _counter(rank: int, start_s: float, size_bytes: int) -> Row:
    args = {"bytes": size_bytes}
    return {"ph": "C", "name": "bytes sent", "pid": rank, "ts": _us(start_s), "args": args}


def _us(time_s: float) -> float:
    return round(time_s * MICRO, 3)


class Chrome(Exporter):
    """Trace events: a slice per call, a flow per message."""

    description = "a traced program's calls and messages, for Perfetto (ui.perfetto.dev)"

    def text(self, subject: Subject) -> str:
        """The events as one JSON object."""
        program = the_program(subject, "chrome")
        events = list(chrome_events(program))
        whole = {"traceEvents": events, "displayTimeUnit": "ns"}
        return msgspec.json.encode(whole).decode() + "\n"
