"""Pairs of hosts: what messages between them take, in rounds in which every host has a partner."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from nhalf.base.compiled import without_compiling
from nhalf.base.errors import InputError, MissingError
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Processes, Subject, library_subject, transport_file
from nhalf.mpi import Library
from nhalf.mpi.discover import find, libraries
from nhalf.mpi.transport_files import TransportFile
from nhalf.node.all_cores import Asked, Look
from nhalf.sites.hosts import short_name
from nhalf.sites.placement import EVERY_HOST
from nhalf.sites.site import Site

TIMEOUT_S = 30.0
LATENCY, TRANSFER = "pair-map-latency", "pair-map-bandwidth"
TRANSFER_BYTES = 128 << 10
LATENCY_BYTES = 8
LATENCY_S, TRANSFER_S = 0.05, 0.08
ROUNDS_MAX = 8
"""If there are more rounds, each gate takes other ones: all hosts take part in each."""


class AllPairs:
    """Looks at pairs of hosts through a probe that has a rank on each host."""

    def __init__(self, processes: Processes, first_round: int = 0) -> None:
        """If there are more rounds than ROUNDS_MAX, those from `first_round` on are taken."""
        self._asked = Asked(processes, TIMEOUT_S)
        self._hosts = [short_name(place["host"]) for place in processes.launch["placement"]]
        rounds = len(self._hosts) - (len(self._hosts) + 1) % 2
        numbers = range(first_round, first_round + min(rounds, ROUNDS_MAX))
        self._rounds = [number % rounds + 1 for number in numbers]

    def look(self) -> Look:
        """Time all pairs of the rounds once: 'latency A B' and, the slower way, 'transfer A B'.

        Raises FailedError for wrong data, MissingError if something cannot be timed, LaunchError.
        """
        times_s: dict[str, float] = {}
        for number in self._rounds:
            axis = f" axis.round={number}"
            points = [
                ("latency", LATENCY, LATENCY_BYTES, LATENCY_S, axis),
                ("transfer", TRANSFER, TRANSFER_BYTES, TRANSFER_S, f"{axis} axis.direction=up"),
                ("transfer", TRANSFER, TRANSFER_BYTES, TRANSFER_S, f"{axis} axis.direction=down"),
            ]
            for kind, pattern, size_bytes, slice_s, axes in points:
                answer = self._asked.point(pattern, size_bytes, slice_s, axes)
                for first, second in _pairs(answer["values"]):
                    pair = " ".join(sorted((self._hosts[first], self._hosts[second])))
                    time_s = float(answer["rank_s"][first])
                    name = f"{kind} {pair}"
                    times_s[name] = max(time_s, times_s.get(name, 0.0))
        return Look(times_s)


def _pairs(values: dict[str, float]) -> Iterator[tuple[int, int]]:
    """The ranks of every pair, from the values that are named peer_of_A."""
    for name, peer in values.items():
        rank = name.removeprefix("peer_of_")
        if rank.isdecimal():
            yield int(rank), int(peer)


@contextmanager
def all_pairs(
    site: Site, transport: str, library_name: str, first_round: int
) -> Iterator[AllPairs]:
    """A rank on every host of a site, started by a library, by default the first that can.

    Raises InputError for fewer than two hosts, MissingError if no library or probe is here or does
    not start.
    """
    if not site.has_several_hosts:
        raise InputError("there are no pairs of fewer than two hosts", "name more with --hosts")
    candidates = [find(library_name)] if library_name else libraries()
    with without_compiling():
        subjects = list(_subjects(candidates, transport_file(transport)))
    ready = [subject for subject in subjects if os.path.exists(subject.command[0])]
    if not ready:
        raise MissingError(
            "no MPI library here has a probe yet", "build one once: nhalf doctor --build"
        )
    placement = site.layout_text(EVERY_HOST)
    tokens, variables = ready[0].launch(len(site.hosts), placement, "", site)
    try:
        with Probe(tokens, variables, TIMEOUT_S) as processes:
            yield AllPairs(processes, first_round)
    except LaunchError as error:
        raise MissingError(f"the pairs cannot be timed: {error}") from error


def _subjects(candidates: Sequence[Library], transport: TransportFile) -> Iterator[Subject]:
    """The transport started by each library that can."""
    if not transport.started_by_mpi:
        raise InputError(f"transport {transport.name} stays on one host", "take mpi or tcp")
    for library in candidates:
        with suppress(MissingError):
            yield library_subject(library, transport)


def common_host(names: Sequence[str]) -> str:
    """The host that all of several pairs have in common; '' if there is none, or several."""
    hosts = [set(name.split()[1:]) for name in names]
    shared = set.intersection(*hosts) if len(hosts) > 1 else set()
    return shared.pop() if len(shared) == 1 and all(len(pair) == 2 for pair in hosts) else ""
