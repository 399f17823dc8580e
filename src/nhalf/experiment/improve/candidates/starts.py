"""Another start of the program: on another MPI library, if it is built for the standard ABI, or
with other ranks on the hosts, in blocks, in turn, or near those that they send to.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from nhalf.experiment.improve.candidates import CandidateSource
from nhalf.experiment.improve.change import Candidate, LaunchChange
from nhalf.experiment.improve.situation import Situation
from nhalf.facts.program.messages import (
    RANKS_MAX,
    communication_matrix,
    crossing_bytes,
    suggested_placement,
)
from nhalf.facts.program.program import Program
from nhalf.mpi import Library
from nhalf.mpi.discover import newest
from nhalf.mpi.launch_words import SRUN, in_blocks, in_turn, placement_words
from nhalf.mpi.preload import ABI, content_of, handles_in, program_named
from nhalf.mpi.switch import MPI

LIBRARY_PROMISE_SHARE = 0.3


class Libraries(CandidateSource):
    """The newest of each vendor that runs the same file by the same words."""

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """The libraries with the standard ABI that a launcher of the same family starts."""
        own = situation.library
        if situation.launch.family in ("", SRUN):
            return
        program = program_named(situation.launch.program)
        if own is None or handles_in(content_of(program)) != {ABI}:
            return
        for library in newest(situation.installed):
            if library.vendor != own.vendor and library.abi and library.launcher == own.launcher:
                change = _of_trial(library) if situation.is_virtual else _of_launcher(library)
                if change is not None:
                    yield situation.candidate(
                        f"with {library.name}",
                        f"the program runs on {library.title} instead of {own.title}",
                        f"start it with {own.title} again",
                        change,
                        MPI,
                        LIBRARY_PROMISE_SHARE,
                    )


def _of_trial(library: Library) -> LaunchChange:
    return LaunchChange(replaced=("mpi",), options=("--mpi", library.name), starts=library.vendor)


def _of_launcher(library: Library) -> LaunchChange | None:
    """The library's own launcher and its variables; None if it has no launcher."""
    if library.mpiexec is None:
        return None
    launcher = (str(library.mpiexec),)
    return LaunchChange(dict(library.environment), launcher=launcher, starts=library.vendor)


PLACEMENT_PROMISE_SHARE = 0.6
"""The share of the time in MPI that is saved where no byte is left between hosts."""
UNKNOWN_SHARE = 0.05
"""Where no fewer bytes pass between hosts: operations may still be faster."""
LEAST_SAVED_SHARE = 0.1
"""A list of all ranks is worth it only where it saves this share of what the simple ways leave."""


class Placements(CandidateSource):
    """Other placements on the hosts that the program had; none on one host, or of many ranks,
    whose matrix of bytes would fill the memory.
    """

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """The placements that the launcher has words for."""
        program, launch = situation.program, situation.launch
        if program is None or not launch.launcher or launch.is_several:
            return
        if "" in program.hosts or program.ranks > RANKS_MAX:
            return
        names = list(dict.fromkeys(program.hosts))
        now = [names.index(host) for host in program.hosts]
        if max(now, default=0) == 0:
            return
        for name, text, placed in _ways(program, now):
            words = placement_words(launch.family, situation.library, placed)
            if placed == now or words is None:
                continue
            yield situation.candidate(
                name,
                f"{text} ({' '.join(words.options)})",
                "leave out " + " ".join(words.options),
                LaunchChange(replaced=words.replaced, options=words.options),
                MPI,
                max(UNKNOWN_SHARE, PLACEMENT_PROMISE_SHARE * _saved_share(program, now, placed)),
            )


def _ways(program: Program, now: Sequence[int]) -> Iterator[tuple[str, str, list[int]]]:
    """Names of placements, what they do, and the host of each rank."""
    hosts, ranks = max(now) + 1, len(now)
    simple = []
    if ranks % hosts == 0:
        simple = [in_blocks(hosts, ranks), in_turn(hosts, ranks)]
        yield "block distribution", "ranks that follow each other share a host", simple[0]
        yield "cyclic distribution", "ranks that follow each other are apart", simple[1]
    suggested = suggested_placement(program)
    if suggested is None:
        return
    best_bytes = min(_crossing(program, placed) for placed in [now, *simple])
    if suggested.crossing_bytes < (1 - LEAST_SAVED_SHARE) * best_bytes:
        text = "ranks that send each other most share a host"
        yield "placed by traffic", text, list(suggested.groups)


def _crossing(program: Program, placed: Sequence[int]) -> float:
    """Bytes between hosts."""
    return crossing_bytes(communication_matrix(program).bytes, np.asarray(placed))


def _saved_share(program: Program, now: Sequence[int], placed: Sequence[int]) -> float:
    """The share of the bytes between hosts that stay within them instead."""
    before_bytes = _crossing(program, now)
    return max(0.0, 1 - _crossing(program, placed) / before_bytes) if before_bytes else 0.0
