"""Where the time of the tests goes: the slowest and every wing at the end, what is left for
`make test-full`, and limits, which grow where the machine is slow. A plug-in of pytest."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_timeout
from hypothesis import HealthCheck, settings

from tests.patience import patience_s

LIMIT_S = 10.0
SLOWEST = 10
LEFT = pytest.StashKey[int]()
BEFORE_S = pytest.StashKey[float]()
SPENT_S = pytest.StashKey[Counter[str]]()
MESSAGE = "nhalf_left_for_full"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "nhalf")
"""What is compiled on demand is kept there; tests may have other folders of their own."""


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is counted yet, and nobody has a deadline."""
    config.stash[LEFT] = 0
    config.stash[SPENT_S] = Counter()
    # How long an example of Hypothesis takes says nothing of what is tested.
    slow = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("nhalf", slow)
    settings.load_profile("nhalf")
    config.pluginmanager.register(Counting(config))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is left for `make test-full` is slow; slow files come first, so that nobody waits."""
    leave_cases(items)
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker("slow")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def leave_cases(items: list[pytest.Item]) -> None:
    """Mark `full` all but n cases of each test that is marked `sampled(n)`."""
    tests: dict[tuple[Path, str], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and not item.get_closest_marker("full"):
            tests.setdefault((item.path, item.nodeid.partition("[")[0]), []).append(item)
    for cases in tests.values():
        marker = cases[0].get_closest_marker("sampled")
        if marker is not None:
            kept = sample([case.callspec.indices for case in cases], *marker.args)
            for place, case in enumerate(cases):
                if place not in kept:
                    case.add_marker("full")


def sample(cases: Sequence[Mapping[str, int]], number: int) -> list[int]:
    """The places of some cases, which have as many values of their parameters as they can have,
    each at least once, and are far from each other in the list.
    """
    kept: list[int] = []
    unseen = {value for case in cases for value in case.items()}

    def difference(place: int) -> tuple[int, int]:
        apart = min((abs(place - other) for other in kept), default=0)
        return len(unseen & cases[place].items()), apart

    for _ in range(min(number, len(cases))):
        kept.append(max((p for p in range(len(cases)) if p not in kept), key=difference))
        unseen -= cases[kept[-1]].items()
    return kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that takes long says so by its mark, for whoever wants to leave it out."""
    report = yield
    if call.when != "call" or not report.passed or item.get_closest_marker("slow"):
        return report
    computed_s = computed_until_now_s() - item.stash.get(BEFORE_S, 0.0)
    # Ranks that wait compute, too, so both have to be long.
    spent_s = min(computed_s, call.duration)
    long = spent_s > LIMIT_S and spent_s > patience_s(LIMIT_S)
    if long and not compiled_since(call.start):
        report.outcome = "failed"
        report.longrepr = f"computed for {computed_s:.1f} s: mark it slow, or make it faster"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """What a test computes is its own; how long it waits for its turn is not."""
    item.stash[BEFORE_S] = computed_until_now_s()
    yield


def computed_until_now_s() -> float:
    """Seconds of processor time of this process and of all those whose end it has awaited."""
    return sum(os.times()[:4])


def compiled_since(moment_s: float) -> bool:
    """Whether a probe was compiled, by whoever is the first to need it: that takes long once."""
    return any(log.stat().st_mtime >= moment_s for log in CACHE.glob("*/*/compile.log"))


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Any:
    """As pytest-timeout sets it, only later where the machine is slow."""
    later = settings._replace(timeout=patience_s(settings.timeout))
    return pytest_timeout.pytest_timeout_set_timer(item, later)


class Counting:
    """What has to be known at the end; workers tell whoever prints it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """A mark or a word on the command line left them out."""
        left = sum(item.get_closest_marker("full") is not None for item in items)
        self._config.stash[LEFT] += left

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Setting up and tearing down count. A failure has a name at once, if all else is lost."""
        self._config.stash[SPENT_S][report.nodeid] += report.duration
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write_line(f" {report.when} failed: {report.nodeid}")

    def pytest_sessionfinish(self) -> None:
        """Every worker has collected all the tests and left out the same ones."""
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[MESSAGE] = self._config.stash[LEFT]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker has ended, or died and tells nothing."""
        self._config.stash[LEFT] = getattr(node, "workeroutput", {}).get(MESSAGE, 0)


def wing(nodeid: str) -> str:
    """The folder below tests/nhalf, where there is one."""
    parts = nodeid.partition("::")[0].split("/")
    return parts[2] if parts[:2] == ["tests", "nhalf"] and len(parts) > 3 else "whole tree"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """The ten slowest, every wing, and how many tests wait for the other tier."""
    spent_s = config.stash[SPENT_S]
    by_wing: Counter[str] = Counter()
    for nodeid, seconds in spent_s.items():
        by_wing[wing(nodeid)] += seconds
    terminalreporter.section("times")
    for nodeid, seconds in spent_s.most_common(SLOWEST):
        terminalreporter.write_line(f"{seconds:7.1f} s  {nodeid}")
    wings = (f"{name} {seconds:.1f} s" for name, seconds in by_wing.most_common())
    terminalreporter.write_line("per wing: " + ", ".join(wings))
    if left := config.stash[LEFT]:
        terminalreporter.write_line(f"{left} tests are left for `make test-full`")
