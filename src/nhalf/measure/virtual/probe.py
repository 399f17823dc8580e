"""A launch of a probe on the virtual network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.traced.virtual_machine import REGION
from nhalf.measure.virtual.progress import VirtualProgress
from nhalf.measure.virtual.region import Region
from nhalf.measure.virtual.start import BYPASS, error_of, surroundings
from nhalf.mpi import Library
from nhalf.sites.health import Examiner


class BypassError(LaunchError):
    """Messages did not pass the network."""

    is_final: ClassVar[bool] = True


@dataclass(frozen=True)
class VirtualRanks:
    """The ranks of a launch: what lies between them, how many, on which library.

    `progress` is told how far they are.
    """

    wires: str
    number: int
    library: Library
    progress: VirtualProgress


class VirtualProbe(Probe):
    """A running launch whose ranks share a region: they say themselves why they cannot go on.

    A rank that waits for the next point holds up the others outside MPI, so that virtual time
    stands until it comes.
    """

    def __init__(
        self,
        ranks: VirtualRanks,
        tokens: Sequence[str],
        environment: Mapping[str, str],
        timeout_s: float,
        examiner: Examiner,
    ) -> None:
        """Start the processes as `Probe` does, on the network between these ranks."""
        self._virtual_ranks = ranks
        self._region = Region(ranks.wires)
        own = {**environment, REGION: str(self._region.path)}
        try:
            super().__init__(tokens, own, timeout_s, examiner, surroundings())
        except BaseException:
            self._region.close()
            raise

    def _look(self, timeout_s: float) -> list[int]:
        """Wait as `Probe` does; raises LaunchError once the ranks have stopped."""
        ready = super()._look(timeout_s)
        self._virtual_ranks.progress.look(self._region.members(self._virtual_ranks.number))
        if stopped := self._region.stopped:
            reason = str(error_of(stopped, self._virtual_ranks.library))
            if stopped.kind == "abort":
                reason += self._last_words()
            raise (BypassError if reason.startswith(BYPASS) else LaunchError)(reason)
        return ready

    def kill(self) -> None:
        """End every process of the launch."""
        super().kill()
        self._region.kill_ranks(self._virtual_ranks.number)
        self._region.close()
