# SPDX-License-Identifier: Apache-2.0
"""Where the threads of OpenMP programs run."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nhalf.sites.start import cores


def bound_threads(threads: int, cpus: Sequence[int] = ()) -> dict[str, str]:
    """Variables that give each thread a core of its own: one of `cpus`, or any.

    None where there are fewer cores than threads, or where this process's environment says already
    where threads go. The variables are those of OpenMP 5.2, sections 21.1.5 and 21.1.6.
    """
    enough = threads <= (len(cpus) or cores())
    if not enough or "OMP_PROC_BIND" in os.environ or "OMP_PLACES" in os.environ:
        return {}
    places = ",".join(f"{{{cpu}}}" for cpu in cpus) or "cores"
    return {"OMP_PROC_BIND": "true", "OMP_PLACES": places}
