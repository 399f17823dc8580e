# SPDX-License-Identifier: Apache-2.0
"""aprun of Cray's ALPS."""

from __future__ import annotations

from typing import ClassVar

from nhalf.mpi.job import Launcher, MpiJob


class Aprun(Launcher):
    """Starts ranks through ALPS, inside an allocation."""

    description: ClassVar[str] = "aprun of Cray's ALPS"

    def tokens(self, job: MpiJob) -> list[str]:
        """`aprun -n N -cc cpu COMMAND`."""
        return ["aprun", "-n", str(job.ranks), "-cc", "cpu" if job.bind else "none", *job.command]
