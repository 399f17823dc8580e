"""Does `nhalf improve` find what slows a program down, and claim nothing that does not help?

Programs with a brake are searched once each, programs without one in turns. A gain that is claimed
of the latter is tried again with launches of its own, by the script that the search has written.
Each result is kept at once: a measurement that was interrupted goes on where it was.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.improve_subjects import BRAKED, PLANTED, Subject, without_brake
from benchmarks.pages import table
from nhalf.present.wording import count
from nhalf.statistics.many_tests import one_sided

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build/improve-searches.jsonl"
"""What was searched so far; without this file all begins anew."""
BRAKED_BUDGET_S, PLAIN_BUDGET_S = 240, 60
AGAIN = 12
"""Pairs of launches that try a claimed gain again."""
TIMEOUT_S = 900

Kept = dict[str, Any]


def measure(runs: int) -> tuple[Any, str]:
    """All programs with a brake once, and `runs` searches of programs without one."""
    KEPT.parent.mkdir(exist_ok=True)
    done = {(row["part"], row["number"]): row for row in _kept()}
    rows: list[Kept] = []
    with tempfile.TemporaryDirectory() as name:
        for part, number, subject in _searches(runs):
            row = done.get((part, number))
            if row is None:
                row = {"part": part, "number": number, **_searched(subject, part, Path(name))}
                with KEPT.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                sys.stderr.write(f"{row}\n")
            rows.append(row)
    return {"cores": os.cpu_count(), "again": AGAIN, "searches": rows}, page(rows)


def _searches(runs: int) -> Iterator[tuple[str, int, Subject]]:
    """Part, number and subject of each search."""
    for number, subject in enumerate(BRAKED):
        yield "brake", number, subject
    for number in range(runs):
        yield "no brake", number, without_brake(number)


def _kept() -> list[Kept]:
    """What was searched before."""
    lines = KEPT.read_text("utf-8").splitlines() if KEPT.is_file() else []
    return [json.loads(line) for line in lines]


def _searched(subject: Subject, part: str, folder: Path) -> Kept:
    """One search, and what became of its gain."""
    load, begin_s = os.getloadavg()[0], time.monotonic()
    script = folder / "improved.sh"
    script.unlink(missing_ok=True)
    budget_s = BRAKED_BUDGET_S if part == "brake" else PLAIN_BUDGET_S
    words = [sys.executable, "-m", "nhalf", "improve", "--quiet", "--json"]
    words += ["--budget", f"{budget_s}s", "--out", str(script), "--"]
    command, environment = subject.command(folder), subject.environment()
    done = subprocess.run(
        [*words, *command],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    row: Kept = {
        "name": subject.name,
        "library": subject.library,
        "load": load,
        "seconds": time.monotonic() - begin_s,
    }
    if done.returncode:
        # A machine that is too busy for the budget has no answer, which is one, too.
        return {**row, "problem": done.stderr.strip()[-300:], "gain": None, "changes": []}
    answer = json.loads(done.stdout)
    row |= {
        "problem": "",
        "gain": answer["gain"],
        "changes": [change["name"] for change in answer["changes"]],
        "plain_s": answer["plain_s"],
        "spread_share": answer["spread_share"],
        "launches": answer["launches"],
        "complete": answer["complete"],
    }
    if part == "brake":
        row["is_found"] = any(word in name for word in subject.answers for name in row["changes"])
    elif row["changes"]:
        row["again"] = _again(command, environment, script)
    return row


def _again(command: Sequence[str], environment: dict[str, str], script: Path) -> Kept:
    """The gain of a script in launches of its own, in turns with the plain program."""
    load = os.getloadavg()[0]
    logs = []
    for number in range(AGAIN):
        order = [list(command), [str(script)]]
        if number % 2:
            order.reverse()
        times_s = {len(words): _launch_s(words, environment) for words in order}
        logs.append(math.log(times_s[len(command)] / times_s[1]))
    mean, reach, _ = one_sided([np.array(logs)])
    ends = {name: math.exp(mean[0] + sign * reach[0]) for name, sign in (("low", -1), ("high", 1))}
    return {"load": load, "factor": math.exp(mean[0]), **ends, "logs": logs}


def _launch_s(words: Sequence[str], environment: dict[str, str]) -> float:
    """The time of a launch; it has to succeed."""
    begin_s = time.monotonic()
    subprocess.run(
        words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True,
        timeout=TIMEOUT_S,
    )  # fmt: skip
    return time.monotonic() - begin_s


NOTE = """Two ranks on {cores} cores with a load of {low:.1f} to {high:.1f} before the searches, \
to which the ranks of the search before add up to 2. *Found*: what was proven to help takes away \
what slows the program down, or takes its place. Of {planted} planted brakes {found} were found. \
The budget of a search is {budget} s; the last programs have no brake but the library."""
PLAIN_NOTE = """{searches} searches with a budget of {budget} s each claimed {claimed}. Each gain \
was tried again in {again} pairs of launches in turns. It is false where their interval holds no \
gain, too: {false} of {all}."""


def page(rows: Sequence[Kept]) -> str:
    """The page: programs with a brake, then those without."""
    braked = [row for row in rows if row["part"] == "brake"]
    plain = [row for row in rows if row["part"] == "no brake"]
    if not braked:
        return _plain_table(plain)
    loads = [row["load"] for row in rows]
    note = NOTE.format(
        cores=os.cpu_count(),
        low=min(loads),
        high=max(loads),
        planted=PLANTED,
        found=sum(row.get("is_found", False) for row in braked[:PLANTED]),
        budget=BRAKED_BUDGET_S,
    )
    first = table(
        "Searches for what makes programs faster",
        note,
        ["program", "library", "found", "times as fast", "by", "launches", "seconds", "load"],
        [
            [
                row["name"],
                row["library"],
                "yes" if row.get("is_found") else "no",
                _gain(row["gain"]),
                " and ".join(row["changes"]),
                str(row.get("launches", "")),
                f"{row['seconds']:.0f}",
                f"{row['load']:.1f}",
            ]
            for row in braked
        ],
    )
    return first + "\n#" + _plain_table(plain) if plain else first


def _plain_table(rows: Sequence[Kept]) -> str:
    """Programs without a brake: what was claimed, and what became of it."""
    claimed = [row for row in rows if row["changes"]]
    false = [row for row in claimed if is_false(row)]
    note = PLAIN_NOTE.format(
        searches=len(rows),
        budget=PLAIN_BUDGET_S,
        claimed=count(len(claimed), "gain"),
        again=AGAIN,
        false=len(false),
        all=len(claimed),
    )
    head = [
        "program",
        "library",
        "claimed",
        "by",
        "again",
        "launches",
        "plain",
        "differ by",
        "load",
    ]
    return table(
        "Programs without a brake",
        note,
        head,
        [
            [
                row["name"],
                row["library"],
                _gain(row["gain"]) if row["changes"] else row["problem"] or "nothing",
                " and ".join(row["changes"]),
                _again_words(row),
                str(row.get("launches", "")),
                f"{row['plain_s']:.2f} s" if row.get("plain_s") else "",
                f"{row['spread_share']:.0%}" if "spread_share" in row else "",
                f"{row['load']:.1f}",
            ]
            for row in rows
        ],
    )


def is_false(row: Kept) -> bool:
    """Whether launches of its own do not show that there is a gain."""
    return bool(row["again"]["low"] <= 1.0)


def _again_words(row: Kept) -> str:
    again = row.get("again")
    if again is None:
        return ""
    word = "false" if is_false(row) else "real"
    return f"{again['factor']:.2f} [{again['low']:.2f}, {again['high']:.2f}], {word}"


def _gain(gain: Kept | None) -> str:
    """A factor with its interval."""
    if gain is None:
        return ""
    high = "" if gain["ci_high"] is None else f"{gain['ci_high']:.2f}"
    return f"{gain['factor']:.2f} [{gain['ci_low']:.2f}, {high}]"
