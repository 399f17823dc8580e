# SPDX-License-Identifier: Apache-2.0
"""No launcher: one process, which brings up its ranks itself (model, threads) or is alone."""

from __future__ import annotations

from typing import ClassVar

from nhalf.sites.launchers import Job, Launcher


class Direct(Launcher):
    """The command as it is."""

    what: ClassVar[str] = "the program itself, without a launcher"

    def tokens(self, job: Job) -> list[str]:
        """The job's command; the number of ranks is the program's own matter."""
        return list(job.command)
