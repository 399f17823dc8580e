"""yod of the Paragon."""

from __future__ import annotations

from typing import ClassVar

from nhalf.mpi.job import Launcher, MpiJob


class Yod(Launcher):
    """Starts ranks on nodes of their own."""

    description: ClassVar[str] = "yod of the Intel Paragon"

    def tokens(self, job: MpiJob) -> list[str]:
        """`yod -sz N COMMAND`."""
        return ["yod", "-sz", str(job.ranks), *job.command]
