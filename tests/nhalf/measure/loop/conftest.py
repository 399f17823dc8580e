"""Real runs that can be killed and resumed, and runs of probes that fail in every way."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nhalf.measure.loop.measure import Measuring
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.probe import process
from nhalf.measure.probe.subject import Subject
from nhalf.store.run import Run
from tests.nhalf.measure.loop.fakes import DESCRIPTION, FAKE, Fake, Go
from tests.patience import patience_s

MARK = "NHALF_TEST_MARK"
"""A variable that every process that a run starts inherits."""
PATIENCE_S = 120.0
ORPHANS_GONE_S = 10.0


@pytest.fixture(autouse=True)
def one_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches of this process visit their points once; a test of several visits says so."""
    monkeypatch.setattr("nhalf.measure.plan.budget.VISITS_MAX", 1)


class Watched:
    """`nhalf run` in its own process; every process that it starts carries a mark."""

    def __init__(self, start: Callable[..., Any], *words: str | Path) -> None:
        self.mark = uuid.uuid4().hex
        self.process = start(*words, session=True, environment={MARK: self.mark})

    def processes(self) -> dict[int, str]:
        """What it started, which has the mark, and is alive: its command line by its number."""
        wanted = f"{MARK}={self.mark}".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if wanted not in (folder / "environ").read_bytes().split(b"\0"):
                    continue
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                words = (folder / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if state not in "ZX":
                found[int(folder.name)] = words.replace("\0", " ").strip()
        return found

    def victims(self, kind: str) -> list[int]:
        """The processes of one kind: front end, mpiexec or rank."""
        if kind == "front end":
            return [self.process.pid] if self.process.poll() is None else []
        launched = {
            number: words
            for number, words in self.processes().items()
            if "probe-" in words and "--describe" not in words
        }
        ranks = {n for n, words in launched.items() if "probe-" in words.split()[0]}
        starters = {n for n in launched if _parent(n) == self.process.pid}
        return sorted(ranks - starters if kind == "rank" else starters)

    def wait(self) -> tuple[int, str, str]:
        """Exit code, standard output and standard error."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err

    def orphans(self) -> dict[int, str]:
        """What is left of it after the time that processes may take to end."""
        deadline_s = time.monotonic() + patience_s(ORPHANS_GONE_S)
        while (left := self.processes()) and time.monotonic() < deadline_s:
            time.sleep(0.05)
        return left

    def kill(self) -> None:
        """End everything that is left."""
        self.process.send_signal(signal.SIGKILL)
        for number in self.processes():
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue


def _parent(number: int) -> int:
    try:
        return int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


@pytest.fixture
def watched(start_nhalf: Callable[..., Any]) -> Iterator[Callable[..., Watched]]:
    """Starts nhalf with the words given; whatever is left at the end is killed."""
    started: list[Watched] = []

    def begin(*words: str | Path) -> Watched:
        started.append(Watched(start_nhalf, *words))
        return started[-1]

    yield begin
    for one in started:
        one.kill()


@pytest.fixture
def whole_lines() -> Callable[[Path], list[dict[str, Any]]]:
    """The events in a journal's whole lines, whatever else is in the file."""

    def read(path: Path) -> list[dict[str, Any]]:
        if not path.exists():
            return []
        content = path.read_bytes()
        return [json.loads(line) for line in content[: content.rfind(b"\n") + 1].splitlines()]

    return read


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """A subject whose probe does `before` it opens its launch and `each` before each answer."""

    def make(name: str = "fake", before: str = "", each: str = "", ranks: int = 2) -> Subject:
        path = tmp_path / f"{name}.py"
        log = str(tmp_path / f"{name}.log")
        path.write_text(FAKE.format(log=log, before=before, each=each, ranks=ranks))
        return Subject(name, (sys.executable, "-u", str(path)), DESCRIPTION)

    return make


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Go:
    """Measures subjects into tmp_path/run: the failures and all events."""
    monkeypatch.setattr(process, "END_TIMEOUT_S", 2.0)

    def measure(*subjects: Subject, **choices: Any) -> tuple[dict[str, str], list[dict[str, Any]]]:
        block = Block(patterns=["pingpong"], ranks=[2], bytes=choices.pop("bytes", "0,8,64"))
        wanted = {
            "transports": [], "mpi": [], "blocks": choices.pop("blocks", [block]),
            "launches": 2, "budget_s": 0.0,
            "precision": 0.1, "options": "", "seed": 1, "timeout_s": 10.0, **choices,
        }  # fmt: skip
        folder = tmp_path / "run"
        run = Run.open(folder) if folder.exists() else Run.create(folder, {})
        failed = Measuring(run, Plan(**wanted), subjects, Progress(quiet=True)).run()
        return failed, run.events()

    return measure
