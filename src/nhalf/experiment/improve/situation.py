"""What is known of a launch before anything is tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nhalf.experiment.improve.bounds import upper_share
from nhalf.experiment.improve.candidate import Candidate
from nhalf.experiment.improve.change import LaunchChange
from nhalf.experiment.improve.spanned_hosts import may_span_hosts
from nhalf.facts.program.program import Program
from nhalf.measure.traced.preloaded import library_of_trial
from nhalf.mpi import Library
from nhalf.mpi.affected import Affected
from nhalf.mpi.launch_settings import LaunchCommand, parse_launch
from nhalf.mpi.launch_words import TRIAL
from nhalf.mpi.launched import libraries_of_launcher
from nhalf.mpi.vendors import libraries_in


@dataclass(frozen=True)
class Situation:
    """A launch; the library it starts, None if unknown; its trace, None if it has none.

    `timed_share` is the share of the traced launch that counts: less than 1 where the program
    prints its own time.
    """

    launch: LaunchCommand
    library: Library | None
    installed: Sequence[Library] = ()
    program: Program | None = None
    cores: int = 1
    timed_share: float = 1.0

    @property
    def ranks(self) -> int:
        """The number of ranks, 0 if unknown."""
        return self.program.ranks if self.program is not None else 0

    @property
    def is_virtual(self) -> bool:
        """Whether it runs on a simulated machine."""
        return self.launch.family == TRIAL

    @property
    def is_on_one_host(self) -> bool:
        """Whether all ranks are on one host; without a trace, whether nothing says otherwise."""
        if self.program is None:
            return not may_span_hosts(self.launch)
        return len(set(self.program.hosts)) == 1

    def candidate(
        self,
        name: str,
        text: str,
        undo: str,
        change: LaunchChange,
        affected: Affected,
        promise_share: float,
        aim_share: float = 1.0,
    ) -> Candidate:
        """A candidate with its bounds.

        `promise_share` is the share that it may well save of its bound, or of `aim_share` of the
        time if what it is made for takes less: it orders candidates, and decides nothing.
        """
        upper = min(1.0, upper_share(self.program, affected) / self.timed_share)
        return Candidate(name, text, undo, change, upper, min(upper, aim_share) * promise_share)


def situation_of(
    command: Sequence[str], installed: Sequence[Library], environment: dict[str, str], cores: int
) -> Situation:
    """What the words of a command say. Raises InputError if there are none."""
    launch = parse_launch(command, environment)
    if launch.family == TRIAL:
        tried = library_of_trial([*launch.launcher, *launch.options])
        return Situation(launch, tried[0] if tried else None, installed, cores=cores)
    libraries = libraries_of_launcher(launch.launcher[0], installed) if launch.launcher else []
    if libraries and not launch.family:
        launch = parse_launch(command, environment, libraries[0].launcher)
    return Situation(launch, libraries[0] if libraries else None, installed, cores=cores)


def with_trace(situation: Situation, program: Program, printed_s: float | None) -> Situation:
    """The situation with what a trace says of the program, and of its library.

    The latter counts where the launcher does not tell, as srun, and only one library is meant.
    All that is saved may be saved of the time that the program prints, `printed_s`, if it counts.
    """
    library = situation.library
    if library is None and not situation.is_virtual:
        by_name = {candidate.name: candidate for candidate in situation.installed}
        names = libraries_in(program.library, by_name)
        library = by_name[names[0]] if len(names) == 1 else None
    whole_s = program.trace.end_s - program.trace.start_s
    timed_share = 1.0
    if printed_s is not None and 0 < printed_s < whole_s:
        timed_share = printed_s / whole_s
    return replace(situation, program=program, library=library, timed_share=timed_share)
