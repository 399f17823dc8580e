"""Whether the ranks of a launch leave a core free for this process."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any


def leaves_a_core(launch: Mapping[str, Any], host: str = "", cores: int = 0) -> bool:
    """Whether fewer ranks than cores are busy on this host, according to a launch's record.

    `host` and `cores` default to those of this process. Ranks bound to fewer cores than there are
    ranks leave the remaining cores free.
    """
    local_host = host or socket.gethostname()
    ranks = [rank for rank in launch.get("placement", []) if rank.get("host") == local_host]
    allowed = {core for rank in ranks for core in rank.get("allowed_cpus", [])}
    used = min(len(ranks), len(allowed)) if allowed else len(ranks)
    return used < (cores or len(os.sched_getaffinity(0)))
