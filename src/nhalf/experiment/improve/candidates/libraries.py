"""Another MPI library, for programs that are built for the standard ABI."""

from collections.abc import Iterator

from nhalf.experiment.improve.candidates import CandidateSource
from nhalf.experiment.improve.change import Candidate, LaunchChange
from nhalf.experiment.improve.situation import Situation
from nhalf.mpi import Library
from nhalf.mpi.discover import newest
from nhalf.mpi.launch_words import SRUN
from nhalf.mpi.preload import ABI, content_of, handles_in, program_named
from nhalf.mpi.switch import MPI

PROMISE_SHARE = 0.3


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
                        PROMISE_SHARE,
                    )


def _of_trial(library: Library) -> LaunchChange:
    return LaunchChange(replaced=("mpi",), options=("--mpi", library.name), starts=library.vendor)


def _of_launcher(library: Library) -> LaunchChange | None:
    """The library's own launcher and its variables; None if it has no launcher."""
    if library.mpiexec is None:
        return None
    launcher = (str(library.mpiexec),)
    return LaunchChange(dict(library.environment), launcher=launcher, starts=library.vendor)
