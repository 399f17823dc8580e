"""Why a launch failed: unresponsive hosts, and ranks that are stopped, killed or gone."""

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from nhalf.base.listing import few
from nhalf.base.processes import ProgramOutcome, run
from nhalf.sites.hosts import short_name

WORKERS_MAX = 64
ASK_TIMEOUT_S = 10.0


def ask(
    commands: Mapping[str, Sequence[str]], timeout_s: float = ASK_TIMEOUT_S
) -> dict[str, ProgramOutcome]:
    """The outcome of a command by host; unreachable hosts are left out.

    Under Slurm the command runs in the current job; '' as a host is this machine. Every host
    has `timeout_s` seconds to answer.
    """
    tokens = {host: _tokens(host, command) for host, command in commands.items()}
    ways = {host: words for host, words in tokens.items() if words}
    with ThreadPoolExecutor(max_workers=min(WORKERS_MAX, max(len(ways), 1))) as pool:
        outcomes = pool.map(lambda words: run(words, timeout_s), ways.values())
        return dict(zip(ways, outcomes, strict=True))


def _tokens(host: str, command: Sequence[str]) -> list[str]:
    """The command line that runs a command on a host; empty if the host is unreachable."""
    if not host:
        return list(command)
    if os.environ.get("SLURM_JOB_ID"):
        # --overlap: the ranks hold all cores of the job.
        place = ["--nodes=1", "--ntasks=1", f"--nodelist={host}"]
        return ["srun", "--quiet", "--overlap", "--mpi=none", *place, *command]
    if shutil.which("ssh"):
        words = shlex.join(command)
        return ["ssh", "-n", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", host, words]
    return []


SILENT = "does not answer any more"
_LOST = re.compile(
    r"node failure|failed on node|launch.* failed|unreachable|no route to host|connection refused"
    r"|connection timed out|could not resolve|not responding|lost connection|failed to connect",
    re.IGNORECASE,
)
"""Launcher messages about lost hosts."""
_KILLED = re.compile(
    r"killed|\b(?:on|by) signal|with pid \d+ on node|running at|segmentation|core dumped",
    re.IGNORECASE,
)
"""Launcher messages about a rank that was killed."""
_ENDED = re.compile(r"exited|exit code|peer host", re.IGNORECASE)
"""Launcher messages about any rank that ends: the first, and those that follow."""
_ENDING = re.compile(r"cancelled|terminating|job step aborted", re.IGNORECASE)
"""Launcher messages when they end all other ranks."""
HOSTS_SHOWN, LETTERS_MAX = 3, 200
_STATE_SCRIPT = 'for p in "$@"; do cat /proc/$p/stat 2>/dev/null || echo "$p"; done'


@dataclass(frozen=True)
class Diagnosis:
    """The diagnosis in words ('' for none), and the reason by name of each dead host."""

    text: str = ""
    dead: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Examiner:
    """Diagnoses a launch that hangs or ended; `hosts` are those on which it was started."""

    hosts: tuple[str, ...] = ()

    def diagnose(self, ranks: Sequence[Mapping[str, Any]], words: Sequence[str]) -> Diagnosis:
        """Diagnose why a launch is silent; its processes must still exist.

        `ranks` are the ranks' reports of their place (empty without any), `words` the lines that
        the launcher wrote.
        """
        from_messages = self.diagnose_messages(words)
        if from_messages.dead:
            return from_messages
        states = self._ask(ranks)
        silent = [host for host, states_text in states.items() if host and states_text is None]
        if silent and len(silent) < len(states):
            return Diagnosis(f"{few(silent, 4)} {SILENT}", dict.fromkeys(silent, SILENT))
        ranks_text = [
            f"rank {rank['rank']} on {rank['host']} (process {rank['pid']}) is {state}"
            for rank in ranks
            if (state := self._state(rank, states)) is not None
        ]
        return Diagnosis(", ".join(ranks_text[:4])) if ranks_text else from_messages

    def diagnose_messages(self, words: Sequence[str]) -> Diagnosis:
        """Find hosts in the launcher's messages: lost ones, else those whose ranks ended first.

        The death of one rank may cause that of another before the launcher ends the rest: all that
        ended before that are named.
        """
        lost = self._first_messages(words, _LOST)
        if lost:
            (host, message), *_ = lost
            return Diagnosis(message, {host: message})
        first = next((i for i, line in enumerate(words) if _ENDING.search(line)), len(words))
        for kind in (_KILLED, _ENDED):
            ended = (
                self._first_messages(words[:first], kind) or self._first_messages(words, kind)[:1]
            )
            if ended:
                return Diagnosis("; ".join(message for _, message in ended[:HOSTS_SHOWN]))
        return Diagnosis()

    def _first_messages(self, words: Sequence[str], kind: re.Pattern[str]) -> list[tuple[str, str]]:
        """The first line of a kind for each host that is the only one in it, in their order."""
        messages: dict[str, str] = {}
        for line in words:
            matches = [
                host
                for host in self.hosts
                if re.search(rf"(?<![\w.-]){re.escape(short_name(host))}(?![\w-])", line)
            ]
            host = matches[0] if len(matches) == 1 else ""
            if host and kind.search(line):
                message = " ".join(line.split())[:LETTERS_MAX]
                messages.setdefault(host, message if host in message else f"{host}: {message}")
        return list(messages.items())

    def _ask(self, ranks: Sequence[Mapping[str, Any]]) -> dict[str, str | None]:
        """The kernel's state of the ranks by host; None for hosts that do not answer."""
        pids: dict[str, list[str]] = {host: [] for host in self.hosts or ("",)}
        for rank in ranks:
            pids.setdefault(self._requested_name(rank), []).append(str(rank["pid"]))
        commands = {
            host: ["sh", "-c", _STATE_SCRIPT, "sh", *numbers] for host, numbers in pids.items()
        }
        outcomes = ask(commands)
        return {
            host: outcome.stdout if outcome.succeeded else None
            for host, outcome in outcomes.items()
        }

    def _requested_name(self, rank: Mapping[str, Any]) -> str:
        """The name by which a rank's host was requested; '' for this machine."""
        for host in self.hosts:
            if short_name(host) == short_name(rank["host"]):
                return host
        return rank["host"] if self.hosts else ""

    def _state(self, rank: Mapping[str, Any], states: Mapping[str, str | None]) -> str | None:
        """The state 'stopped' or 'gone' of a rank that cannot continue, None for any other."""
        states_text = states.get(self._requested_name(rank))
        if states_text is None:
            return None
        for line in states_text.splitlines():
            if line.partition(" ")[0] == str(rank["pid"]):
                # The name of a program may hold anything, and stands in parentheses.
                state = line.rpartition(")")[2].split()[:1] if ")" in line else ["gone"]
                return {"T": "stopped", "t": "stopped", "Z": "gone", "gone": "gone"}.get(state[0])
        return None


def unreachable_hosts(hosts: Sequence[str]) -> list[str]:
    """The hosts that do not answer now; empty if there is no way to ask any."""
    outcomes = ask({host: ["true"] for host in hosts})
    return [host for host, outcome in outcomes.items() if not outcome.succeeded]
