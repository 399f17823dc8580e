"""nhalf's own collectives through shared memory, loaded before the library (docs/preload.md)."""

from collections.abc import Iterator
from dataclasses import replace

from nhalf.base.errors import InputError, MissingError
from nhalf.experiment.improve.candidates import CandidateSource
from nhalf.experiment.improve.change import LEAST_SHARE, Candidate, LaunchChange
from nhalf.experiment.improve.situation import Situation
from nhalf.mpi.preload import Preload, content_of, handles_in, preload, program_named
from nhalf.mpi.switch import Affected

ROUTED = ("barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter")
LARGEST_BYTES = 8192
"""No data larger than this goes through shared memory without a table."""
AFFECTED = Affected(operations=ROUTED, to_bytes=LARGEST_BYTES)
PROMISE_SHARE = 0.4
NAME = "nhalf's collectives"
PRELOAD = "LD_PRELOAD"


class OwnCollectives(CandidateSource):
    """One, where all ranks are on a host."""

    def candidates(self, situation: Situation) -> Iterator[Candidate]:
        """The library to preload, which may have to be compiled once; not if it cannot help."""
        if situation.library is None or situation.is_virtual or not situation.is_on_one_host:
            return
        candidate = situation.candidate(
            NAME,
            "small collectives go through memory that nhalf's library shares between ranks",
            f"leave out nhalf's library in {PRELOAD}",
            LaunchChange(),
            AFFECTED,
            PROMISE_SHARE,
        )
        if candidate.upper_share >= LEAST_SHARE:
            loaded = _loaded(situation)
            candidate = replace(
                candidate, change=LaunchChange({PRELOAD: loaded.variables[PRELOAD]})
            )
        yield candidate


def _loaded(situation: Situation) -> Preload:
    """What is preloaded into the program. Raises MissingError if there is no library for it."""
    assert situation.library is not None
    program = program_named(situation.launch.program)
    is_program = bool(handles_in(content_of(program)))
    try:
        chosen = preload(
            situation.library, program if is_program else None, installed=situation.installed
        )
    except InputError as error:
        raise MissingError(error.message, error.remedy) from error
    inherited = situation.launch.variables.get(PRELOAD, "")
    if inherited and inherited not in chosen.variables[PRELOAD]:
        joined = f"{chosen.variables[PRELOAD]}:{inherited}"
        return Preload(chosen.path, {PRELOAD: joined})
    return chosen
