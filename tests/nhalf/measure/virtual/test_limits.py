"""Waits and sleeps that end by themselves, in virtual time."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.nhalf.measure.virtual.programs import built, in_turn, library_of, tried

SECONDS = "1000"
IN_VAIN = (
    *("wait_for", "wait_until", "predicate", "cond-real", "cond-mono", "sem", "sem-mono", "cnd"),
    *("select", "pselect", "poll", "poll-none", "ppoll", "epoll", "signal", "mq", "counting"),
    *("promise", "promise-real", "thrd_sleep", "sleep_for", "sleep_until", "nanosleep-until"),
)
"""What a thread alone may wait for, and for sleep."""
HELD = ("mutex", "mutex-real", "mtx", "rwlock", "join")
"""What another thread holds meanwhile."""
ENDED = ("wait_for", "sem", "future", "select", "poll", "epoll", "child", "signal")
"""What another thread, or a child, ends after a moment."""
AT_ONCE = ("0", "-1")
PYTHON = """
import ctypes, queue, select, sys, threading, time
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)  # functions of what is preloaded come first, as in mpi4py
mpi.MPI_Init(None, None)
begin = time.monotonic()
def lap(name, answer):
    global begin
    print(name, round(time.monotonic() - begin, 3), answer, flush=True)
    begin = time.monotonic()
lap("event", threading.Event().wait(1000))
try:
    queue.Queue().get(timeout=1000)
except queue.Empty:
    lap("queue", "empty")
lap("lock", threading.Condition().acquire(timeout=1000))
time.sleep(1000)
lap("sleep", select.select([], [], [], 1000)[0])
items = queue.Queue()
def put():
    time.sleep(0.03)
    sum(range(3_000_000))
    items.put("item")
threading.Thread(target=put).start()
lap("get", items.get(timeout=1000))
mpi.MPI_Finalize()
"""


def _lines(vendor: str, programs: Path, *words: str, options: str = "") -> list[str]:
    """What two ranks print, in order."""
    program = built(vendor, "limits", programs)
    outcome = tried("altix-bx2", vendor, 2, program, *words, options=options)
    assert outcome.exit_code == 0, outcome.stderr
    return sorted(outcome.stdout.splitlines())


@pytest.mark.sampled(1)
@in_turn("mpich")
def test_a_wait_in_vain_takes_its_limit_of_virtual_time(vendor: str, programs: Path) -> None:
    lines = _lines(vendor, programs, SECONDS, *IN_VAIN)
    assert lines == sorted(2 * [f"{way} 1000.000 timeout" for way in IN_VAIN])


@in_turn("openmpi")
def test_a_wait_for_what_a_thread_holds_takes_its_limit(vendor: str, programs: Path) -> None:
    ways = [f"held-{what}" for what in HELD]
    lines = _lines(vendor, programs, SECONDS, *ways, "held-shared")
    # It waits twice.
    expected = ["held-shared 2000.000 timeout", *(f"{way} 1000.000 timeout" for way in ways)]
    assert lines == sorted(2 * expected)


@in_turn("mpich")
def test_a_thread_or_a_child_ends_a_wait(vendor: str, programs: Path) -> None:
    ways = [f"ended-{how}" for how in ENDED]
    lines = _lines(vendor, programs, SECONDS, *ways)
    assert lines == sorted(2 * [f"{way} 0.000 done" for way in ways])


@pytest.mark.parametrize("seconds", AT_ONCE)
def test_a_wait_that_is_over_takes_no_time(seconds: str, programs: Path) -> None:
    ways = [way for way in IN_VAIN if seconds == "0" or not re.search("poll|select", way)]
    ways = [way for way in ways if way not in {"thrd_sleep", "signal"} or seconds == "0"]
    lines = _lines("mpich", programs, seconds, *ways)
    assert lines == sorted(2 * [f"{way} 0.000 timeout" for way in ways])


@in_turn("openmpi")
def test_another_thread_waits_by_the_clock_of_the_rank(vendor: str, programs: Path) -> None:
    """The deadline is the rank's; where the rank sleeps in virtual time, it is over at once."""
    lines = _lines(vendor, programs, SECONDS, "helped", "helped-mpi")
    assert lines == sorted(2 * ["helped 0.000 timeout", "helped-mpi 2.000 timeout"])


def test_a_limit_ends_beside_a_thread_that_computes_on(programs: Path) -> None:
    assert _lines("mpich", programs, SECONDS, "beside") == 2 * ["beside 0.200 timeout"]


def test_what_the_kernel_refuses_is_refused(programs: Path) -> None:
    assert _lines("mpich", programs, SECONDS, "refused") == 2 * ["refused 0.000 timeout"]


@pytest.mark.parametrize(
    "way",
    [
        "sleep_for",
        *(pytest.param(way, marks=pytest.mark.full) for way in ("wait_for", "thrd_sleep", "sem")),
    ],
)
def test_virtual_time_has_an_end(way: str, programs: Path) -> None:
    """Each of two takes half of it, the third one would take more; and so would ten years."""
    program = built("mpich", "limits", programs)
    half, long = str(99 * 86400), str(3650 * 86400)
    words = "rank 0 sleeps or waits until after the end of virtual time, which is 200 days"
    halves = tried("altix-bx2", "mpich", 1, program, half, way, way, way)
    assert halves.stdout == 2 * f"{way} 8553600.000 timeout\n", halves.stderr
    longer = tried("altix-bx2", "mpich", 1, program, long, way)
    assert (halves.exit_code, longer.exit_code) == (3, 3)
    assert words in halves.stderr
    assert words in longer.stderr


@pytest.mark.full
def test_python_waits_in_virtual_time(tmp_path: Path) -> None:
    library = library_of("mpich")
    file = next(iter(library.prefix.glob("lib/**/libmpi_abi.so.*")))
    script = tmp_path / "waits.py"
    script.write_text(PYTHON)
    python = Path(sys.executable).resolve()
    outcome = tried("altix-bx2", "mpich", 1, python, str(script), str(file))
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.splitlines() == [
        "event 1000.0 False",
        "queue 1000.0 empty",
        "lock 0.0 True",
        "sleep 2000.0 []",
        "get 0.0 item",
    ]
    assert re.search("4000 s virtual", outcome.stderr)
