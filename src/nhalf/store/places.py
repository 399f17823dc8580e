"""Where the ranks of a run were, as each reported at its start, and how long they took to start."""

import msgspec

from nhalf.store.journal import events_named
from nhalf.store.run import JOURNAL, Run

Start = tuple[str, int, str]
"""A launch configuration: library (or transport without one), number of ranks, placement."""


class Place(msgspec.Struct, frozen=True):
    """Host, core and memory domain of a rank; `cpu` is certain if it may run on only one."""

    host: str
    cpu: int = -1
    allowed_cpus: list[int] = []
    numa: int = 0

    @property
    def pinned(self) -> bool:
        """Whether the rank is bound to its core."""
        return len(self.allowed_cpus) == 1


class StartedLaunch(msgspec.Struct):
    """A launch in the journal: its ranks' places, and the seconds that they took to start.

    From starting the launcher until all ranks were ready to be asked; None in older journals.
    `variables` are what the MPI library said of its own parameters at its start (MPI_T).
    """

    subject: str
    ranks: int = 0
    asked_placement: str = ""
    placement: list[Place] = []
    start_s: float | None = None
    launch: int = 0
    variables: dict[str, str] = {}


def places(run: Run) -> dict[Start, list[Place]]:
    """The place of every rank in the first launch of each configuration.

    Raises InputError if the journal is damaged; a run without a journal has no places.
    """
    return {start: launches[0].placement for start, launches in started_launches(run).items()}


def started_launches(run: Run) -> dict[Start, list[StartedLaunch]]:
    """Every launch of each configuration, in their order; raises InputError as `places` does."""
    launches: dict[Start, list[StartedLaunch]] = {}
    for launch in events_named("launch", run.path / JOURNAL, StartedLaunch):
        start = (launch.subject, launch.ranks, launch.asked_placement)
        launches.setdefault(start, []).append(launch)
    return launches
