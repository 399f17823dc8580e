"""Placement of the threads of OpenMP programs."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nhalf.sites.topology import allowed_cpus, last_level_caches

OPENMP = "OpenMP"
"""The programming model, as programs name it."""


def bound_threads(threads: int, cpus: Sequence[int] = ()) -> dict[str, str]:
    """Variables that bind each thread to its own core: one of `cpus`, or any available core.

    Empty if there are fewer cores than threads, or if this process's environment already places
    threads. The variables are those of OpenMP 5.2, sections 21.1.5 and 21.1.6.
    """
    places = cpus or [cpu for group in last_level_caches(allowed_cpus()) for cpu in group]
    if threads > len(places) or "OMP_PROC_BIND" in os.environ or "OMP_PLACES" in os.environ:
        return {}
    return {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in places)}
