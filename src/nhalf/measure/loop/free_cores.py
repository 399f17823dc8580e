# SPDX-License-Identifier: Apache-2.0
"""Whether the ranks of a launch leave a core to whoever asks them."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any


def leaves_a_core(launch: Mapping[str, Any], host: str = "", cores: int = 0) -> bool:
    """Whether fewer ranks run on this host than there are cores, as a launch's record tells.

    `host` and `cores` are those of this process where they are not given. Ranks that are bound to
    fewer cores than they are leave the others free.
    """
    here = host or socket.gethostname()
    ranks = [rank for rank in launch.get("placement", []) if rank.get("host") == here]
    allowed = {core for rank in ranks for core in rank.get("allowed_cpus", [])}
    used = min(len(ranks), len(allowed)) if allowed else len(ranks)
    return used < (cores or len(os.sched_getaffinity(0)))
