"""Probes that do what a test wants, and what became of a run with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nhalf.measure.plan.plan import Block
from nhalf.measure.probe.subject import Subject

FAKE = """
import json, os, re, sys, time
log = open({log!r}, "a", buffering=1)
lines = open({log!r} + ".lines", "a", buffering=1)
print("start", file=log)
def say(**record):
    print(json.dumps(record), flush=True)
{before}
say(nhalf="launch", ranks={ranks}, library="fake", clock={{"name": "steady_clock"}}, placement=[])
for line in sys.stdin:
    if line.strip() == "end":
        break
    asked = dict(part.split("=") for part in line.split())
    n = int(asked["bytes"])
    print(asked["id"], n, file=log)
    print(line, end="", file=lines)
    {each}
    time_s = 1e-6 + n * 1e-9
    say(nhalf="point", id=asked["id"], elapsed_s=0.001, batch=1, messages_per_round=2,
        bytes_per_time=n, stop="precision", verified=True, advice=[], samples_s=[time_s] * 5)
"""
WORK = {"name": "work", "values": "0,1", "fallback": "0", "what": ""}
DESCRIPTION = {
    "what": "fake",
    "options": [],
    "patterns": [
        {"name": "pingpong", "present": True, "ranks_min": 2},
        {"name": "ibcast", "present": True, "timing": "operation", "axes": [WORK]},
    ],
}
Fake = Callable[..., Subject]
Go = Callable[..., tuple[dict[str, str], list[dict[str, Any]]]]

EVERYTHING = Counter({("fake", k, n): 1 for k in range(2) for n in (0, 8, 64)})
FURTHER = Block(["ibcast", "pingpong"], [2], "8,64", launches=1)


def measured(events: list[dict[str, Any]]) -> Counter[tuple[str, int, int]]:
    return Counter((e["subject"], e["launch"], e["bytes"]) for e in events if e["event"] == "point")


def starts(tmp_path: Path, name: str = "fake") -> int:
    return (tmp_path / f"{name}.log").read_text().count("start")
