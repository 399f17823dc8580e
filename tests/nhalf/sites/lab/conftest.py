"""Labs of the tests' own, with names that nobody else has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import MissingError
from nhalf.sites.lab import build
from nhalf.sites.lab.layout import Lab
from tests.named_labs import remove_labs_of_killed_tests, unused_lab_name
from tests.patience import patience_s

SOURCES = Path(__file__).resolve().parents[4] / "src"
TIMEOUT_S = 60.0


@pytest.fixture(scope="session")
def can_have_labs() -> None:
    """Skips where this user or machine cannot have a lab, with the reason."""
    if "NHALF_LAB" in os.environ:
        pytest.skip("these tests run inside a lab")
    try:
        build.require_root()
        build.ensure(False, lambda _: None)
    except MissingError as error:
        pytest.skip(str(error))
    remove_labs_of_killed_tests()


@pytest.fixture
def name(can_have_labs: None) -> Iterator[str]:
    """A name for a lab, which is removed afterwards."""
    chosen = unused_lab_name()
    yield chosen
    build.remove_named(chosen)


@pytest.fixture(scope="module")
def make_lab(can_have_labs: None) -> Iterator[Callable[..., Lab]]:
    """Makes labs that live as long as the tests of a module: `make_lab(nodes, topology, …)`."""
    made: list[str] = []

    def make(nodes: int, *options: Any, **named: Any) -> Lab:
        made.append(unused_lab_name())
        return build.build(build.plan(made[-1], nodes, *options, **named))

    yield make
    for one in made:
        build.remove_named(one)


def nhalf(*arguments: str, **choices: Any) -> subprocess.CompletedProcess[str]:
    """`nhalf ARGUMENTS` as a user calls it."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), **choices.pop("environment", {})}
    return subprocess.run(
        [sys.executable, "-m", "nhalf", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=patience_s(TIMEOUT_S),
        env=environment,
        **choices,
    )


def inside(lab: Lab, *command: str, node: str = "", **choices: Any) -> Any:
    """`nhalf lab exec -- COMMAND` in a lab."""
    where = ["--node", node] if node else []
    return nhalf("lab", "exec", "--name", lab.name, *where, "--", *command, **choices)


TCP = Path(__file__).parent / "tcp.py"


@pytest.fixture
def transfer() -> Iterator[Callable[..., None]]:
    """Moves bytes by plain TCP: `transfer(lab, "n1", "n2", size, times)`."""
    servers: list[subprocess.Popen[str]] = []

    def move(lab: Lab, sender: str, receiver: str, size_bytes: int, times: int) -> None:
        port = str(5000 + len(servers))
        words = [sys.executable, "-m", "nhalf", "lab", "exec", "--name", lab.name]
        server = subprocess.Popen(
            [*words, "--node", receiver, "--", sys.executable, str(TCP), "serve", port],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
        )
        servers.append(server)
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        sent = inside(
            lab, sys.executable, str(TCP), "send", receiver, port, str(size_bytes), str(times),
            node=sender,
        )  # fmt: skip
        assert sent.returncode == 0, sent.stderr

    yield move
    for server in servers:
        server.kill()
        server.communicate()


def own_spaces(pids: Sequence[int]) -> set[tuple[str, int]]:
    """The namespaces of processes, without those of this one."""
    kinds = ("net", "mnt", "uts", "ipc")
    found = {(kind, space) for pid in pids for kind in kinds if (space := _space(pid, kind))}
    return found - {(kind, _space(os.getpid(), kind)) for kind in kinds}


def who_is_in(spaces: set[tuple[str, int]]) -> set[int]:
    """Every process of the machine in one of these namespaces."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return {pid for pid in pids if any(_space(pid, kind) == one for kind, one in spaces)}


def _space(pid: int, kind: str) -> int:
    try:
        return Path(f"/proc/{pid}/ns/{kind}").stat().st_ino
    except OSError:
        return 0
