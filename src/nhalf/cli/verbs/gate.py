"""`nhalf gate`: is this node as fast as in its own past?"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nhalf.base.errors import InputError
from nhalf.base.files import write_bytes
from nhalf.base.folders import data_folder, make_folder
from nhalf.base.printable import say
from nhalf.base.request import option
from nhalf.base.rows import members
from nhalf.base.units import parse_duration, parse_share
from nhalf.base.version import __version__
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, JsonOption
from nhalf.measure.plan.request import WHERE, Where
from nhalf.present.terminal.output import emit_json
from nhalf.sites.hosts import short_name
from nhalf.store.gates import (
    PAIRS,
    GateFile,
    GateRecord,
    append_gates,
    gate_path,
    read_gates,
    read_pair_gates,
)

with lazily(globals()):
    from nhalf.decide.check.gate import Decision, Gate
    from nhalf.node.all_cores import Look, all_cores
    from nhalf.node.all_gpus import all_gpus
    from nhalf.node.all_pairs import all_pairs
    from nhalf.present.junit import junit
    from nhalf.sites.schedules import schedule_text
    from nhalf.sites.site import find_site

GROUP = "look"
FOLDER = "gates"
GATES_MAX = 50
"""The baseline is the last gates of a node, up to this many."""
BUDGET_LEAST_S = 5.0
ENDING_S = 0.8
"""What starting and ending take beside the looks."""
PAIR_GATES_MAX = 500
"""The baseline of pairs of hosts, of which a gate may have only some, is longer."""
TOLERANCE = "5%"
PAIR_ROUNDS = 8
"""By how many rounds of pairs the next gate begins later."""
BUDGET, PAIRS_BUDGET = "10s", "30s"


@dataclass(frozen=True, kw_only=True)
class Request(Where, JsonOption, heading="Against what"):
    """The baseline of the node, and what may pass."""

    baseline: Path | None = option(
        None,
        "Folder with a file of gates for each node, which nodes may share; default: gates in the "
        "user's data folder.",
        metavar="DIR",
    )
    accept: bool = option(False, "Begin another baseline with this gate, as after a repair.")
    tolerance: str = option(TOLERANCE, "Slow-down that may pass.", metavar="PERCENT")
    budget: str = option(
        "",
        f"Time for the whole gate, at most; default: {BUDGET}, of pairs {PAIRS_BUDGET}.",
        metavar="TIME",
    )
    transport: str = option(
        "mpi", "Of pairs: what carries the messages, mpi, tcp or another.", heading=WHERE
    )
    mpi: str = option(
        "", "Of pairs: the library that starts the ranks; default: the first.", heading=WHERE
    )
    junit: Path | None = option(None, "Also write JUnit XML.", heading=OUTPUT, metavar="FILE")
    print_schedule: str = option(
        "",
        "Print what makes a system repeat this gate, and time nothing: scrontab, cron, systemd, "
        "prolog or healthcheck.",
        heading=OUTPUT,
        metavar="KIND",
    )

    @property
    def is_of_pairs(self) -> bool:
        """Whether pairs of hosts are timed, and not the cores of this one."""
        return bool(self.hosts or self.host_file)


def command(request: Request) -> int:
    """Say whether this node is as fast as in its own past: go, no-go or unsure, in seconds.

    Exit code 0: go; 1: no-go; 4: unsure, as for the first gates of a node or beside other programs.

    Cores, memory, messages between cores, and GPUs are timed, without MPI, and compared with the
    last 50 gates of this node. What is slower is timed again until the budget is spent.
    With --hosts messages between them are timed instead, in pairs, each against its own past.

    nhalf gate --baseline /shared/gates
    nhalf gate --baseline /shared/gates --accept
    nhalf gate --baseline /shared/gates --budget 5s --junit gate.xml
    nhalf gate --baseline /shared/gates --hosts 'n[1-16]'
    nhalf gate --baseline /shared/gates --print-schedule prolog
    """
    began_s, at = time.monotonic(), datetime.now(UTC)
    tolerance, budget_s = parse_share(request.tolerance), _budget_s(request)
    has_time = Deadline(began_s + budget_s - ENDING_S).has_time
    node = short_name(platform.node()) or "localhost"
    folder = request.baseline or make_folder(data_folder() / FOLDER)
    if request.print_schedule:
        sys.stdout.write(_schedule(request, node, folder))
        return 0
    node = f"{PAIRS}{node}" if request.is_of_pairs else node
    append_gates(folder, node)  # before time is spent on one that could not be kept
    if request.is_of_pairs:
        past = _readable(read_pair_gates(folder), folder)
        baseline = [] if request.accept else past.baseline(PAIR_GATES_MAX)
        first_round = len(past.records) * PAIR_ROUNDS
        site = find_site(request.hosts, request.host_file_path, request.launcher)
        with all_pairs(site, request.transport, request.mpi, first_round) as pairs:
            result = Decision(pairs.look, baseline, has_time, tolerance).made()
    else:
        past = _readable(read_gates(gate_path(folder, node)), gate_path(folder, node))
        baseline = [] if request.accept else past.baseline(GATES_MAX)
        with _node() as look:
            result = Decision(look, baseline, has_time, tolerance, list(*baseline[-1:])).made()
    record = GateRecord(
        node=node,
        at=at,
        verdict=result.verdict,
        times_s={name: float(f"{time_s:.6g}") for name, time_s in result.times_s.items()},
        reason=result.reason,
        counts=result.counts,
        accepts=request.accept,
        taken_share=round(result.most_disturbed.taken_share, 4),
        nhalf=__version__,
    )
    append_gates(folder, node, record)
    spent_s = time.monotonic() - began_s
    if request.junit is not None:
        when = {"started_s": at.timestamp(), "time_s": spent_s}
        content = junit(result.check(), name="gate", host=node, strict=False, **when)
        write_bytes(request.junit, content, "choose another place with --junit")
    if request.json:
        emit_json(gate_json(result, node, spent_s))
    else:
        whose = "" if request.is_of_pairs else f"{node}, "
        sys.stdout.write(f"{result.verdict}: {whose}{result.reason}\n")
    return result.exit_code


@contextmanager
def _node() -> Iterator[Callable[[], Look]]:
    """What looks at all cores and GPUs of this node once."""
    with all_cores() as cores, all_gpus() as gpus:
        yield lambda: gpus.beside(cores.look())


def _schedule(request: Request, node: str, folder: Path) -> str:
    """What repeats this gate with its options, wherever it will be called from."""
    texts = {
        "--baseline": str(folder.absolute()),
        "--tolerance": request.tolerance if request.tolerance != TOLERANCE else "",
        "--budget": request.budget,
        "--junit": str(request.junit.absolute()) if request.junit else "",
    }
    hosts: list[str] = []
    if request.is_of_pairs:
        hosts = [host.name for host in find_site(request.hosts, request.host_file_path, "").hosts]
        texts["--hosts"] = ",".join(hosts)
        texts["--transport"] = request.transport if request.transport != "mpi" else ""
        texts |= {"--mpi": request.mpi, "--launcher": request.launcher}
    words = [word for name, text in texts.items() if text for word in (name, text)]
    called = Path(sys.argv[0])
    program = (
        [str(called.absolute())] if called.name == "nhalf" else [sys.executable, "-m", "nhalf"]
    )
    return schedule_text(request.print_schedule, [*program, "gate", *words], node, hosts)


def _budget_s(request: Request) -> float:
    budget = request.budget or (PAIRS_BUDGET if request.is_of_pairs else BUDGET)
    budget_s = parse_duration(budget)
    if budget_s < BUDGET_LEAST_S:
        raise InputError(f"--budget {budget} is too short", "a gate needs 5s")
    return budget_s


def _readable(past: GateFile, path: Path) -> GateFile:
    """The gates; lines that cannot be read are named."""
    if past.unread:
        say(f"{path}: {past.unread} lines cannot be read, and are left out")
    return past


class Deadline:
    """Whether there is time for another look, as long as the longest so far."""

    def __init__(self, deadline_s: float) -> None:
        """By the monotonic clock."""
        self._deadline_s, self._asked_s, self._longest_s = deadline_s, time.monotonic(), 0.0

    def has_time(self) -> bool:
        """To be asked after each look."""
        now_s = time.monotonic()
        self._longest_s = max(self._longest_s, now_s - self._asked_s)
        self._asked_s = now_s
        return now_s + self._longest_s < self._deadline_s


def gate_json(result: Gate, node: str, spent_s: float) -> dict[str, Any]:
    """The JSON object that `gate --json` prints; ratios are to the baseline."""
    rows = {
        ratio.name: (ratio.past_s, ratio.ratio, [ratio.low, ratio.high]) for ratio in result.ratios
    }
    columns = ("baseline_s", "ratio", "ci")
    return {
        "node": node,
        **members(result, "verdict", "reason", "gates", "looks"),
        "time_s": spent_s,
        "tolerance": result.tolerance_share,
        "counts": result.counts,
        **members(result.most_disturbed, "taken_share", "taken_core"),
        "times": [
            {
                **{"name": name, "time_s": time_s},
                **dict(zip(columns, rows.get(name, (None,) * 3), strict=True)),
            }
            for name, time_s in result.times_s.items()
        ],
    }
