# SPDX-License-Identifier: Apache-2.0
"""Why a launch failed: unresponsive hosts, and ranks that are stopped, killed or gone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nhalf.base.listing import few
from nhalf.sites.hosts import short_name
from nhalf.sites.remote import ask

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
HOSTS_TOLD, LETTERS_MAX = 3, 200
_LOOK = 'for p in "$@"; do cat /proc/$p/stat 2>/dev/null || echo "$p"; done'


@dataclass(frozen=True)
class Finding:
    """The diagnosis in words ('' for none), and the reason by name of each dead host."""

    text: str = ""
    dead: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Examiner:
    """Diagnoses a launch that hangs or ended; `hosts` are those on which it was started."""

    hosts: tuple[str, ...] = ()

    def look(self, ranks: Sequence[Mapping[str, Any]], words: Sequence[str]) -> Finding:
        """Why a launch is silent; its processes must still exist.

        `ranks` is what each rank said of its place (empty if it never did), `words` are the
        lines that the launcher wrote.
        """
        told = self.told(words)
        if told.dead:
            return told
        states = self._ask(ranks)
        silent = [host for host, said in states.items() if host and said is None]
        if silent and len(silent) < len(states):
            return Finding(f"{few(silent, 4)} {SILENT}", dict.fromkeys(silent, SILENT))
        found = [
            f"rank {rank['rank']} on {rank['host']} (process {rank['pid']}) is {state}"
            for rank in ranks
            if (state := self._state(rank, states)) is not None
        ]
        return Finding(", ".join(found[:4])) if found else told

    def told(self, words: Sequence[str]) -> Finding:
        """Hosts in the launcher's messages: lost ones, else those whose ranks ended first.

        The death of one rank may cause that of another before the launcher ends the rest: all that
        ended before that are named.
        """
        lost = self._lines(words, _LOST)
        if lost:
            (host, said), *_ = lost
            return Finding(said, {host: said})
        first = next((i for i, line in enumerate(words) if _ENDING.search(line)), len(words))
        for kind in (_KILLED, _ENDED):
            ended = self._lines(words[:first], kind) or self._lines(words, kind)[:1]
            if ended:
                return Finding("; ".join(said for _, said in ended[:HOSTS_TOLD]))
        return Finding()

    def _lines(self, words: Sequence[str], kind: re.Pattern[str]) -> list[tuple[str, str]]:
        """The first line of a kind for each host that lines name alone, in their order."""
        found: dict[str, str] = {}
        for line in words:
            host = self._named(line)
            if host and kind.search(line):
                said = " ".join(line.split())[:LETTERS_MAX]
                found.setdefault(host, said if host in said else f"{host}: {said}")
        return list(found.items())

    def _named(self, line: str) -> str:
        """The one host that a line names, '' if it names none or several."""
        named = [
            host
            for host in self.hosts
            if re.search(rf"(?<![\w.-]){re.escape(short_name(host))}(?![\w-])", line)
        ]
        return named[0] if len(named) == 1 else ""

    def _ask(self, ranks: Sequence[Mapping[str, Any]]) -> dict[str, str | None]:
        """The kernel's state of the ranks by host; None for hosts that do not answer."""
        pids: dict[str, list[str]] = {host: [] for host in self.hosts or ("",)}
        for rank in ranks:
            pids.setdefault(self._asked_as(rank), []).append(str(rank["pid"]))
        commands = {host: ["sh", "-c", _LOOK, "sh", *numbers] for host, numbers in pids.items()}
        outcomes = ask(commands)
        return {
            host: outcome.stdout if outcome.succeeded else None
            for host, outcome in outcomes.items()
        }

    def _asked_as(self, rank: Mapping[str, Any]) -> str:
        """The name under which a rank's host was asked for; '' for this machine."""
        for host in self.hosts:
            if short_name(host) == short_name(rank["host"]):
                return host
        return rank["host"] if self.hosts else ""

    def _state(self, rank: Mapping[str, Any], states: Mapping[str, str | None]) -> str | None:
        """'stopped' or 'gone' for a rank that cannot go on, None for any other."""
        said = states.get(self._asked_as(rank))
        if said is None:
            return None
        for line in said.splitlines():
            if line.partition(" ")[0] == str(rank["pid"]):
                # The name of a program may hold anything, and stands in parentheses.
                state = line.rpartition(")")[2].split()[:1] if ")" in line else ["gone"]
                return {"T": "stopped", "t": "stopped", "Z": "gone", "gone": "gone"}.get(state[0])
        return None


def unanswered(hosts: Sequence[str]) -> list[str]:
    """Hosts that do not answer now; none if they cannot be reached at all."""
    outcomes = ask({host: ["true"] for host in hosts})
    return [host for host, outcome in outcomes.items() if not outcome.succeeded]
