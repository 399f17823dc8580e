"""A machine that changes between two states: keep the times measured in one of them.

Shared virtual machines migrate their cores between places that share a cache and places that do
not, for seconds at a time and with factors of two or three. A launch during such a change has some
sizes from one state and some from the other, and such a curve describes neither. A model is
therefore fitted to one state, the one in which most measurements were made.
"""

from __future__ import annotations

import math

import numpy as np

from nhalf.statistics.intervals import Floats

REACH = math.log(1.25)
"""Times of one state agree within this (logarithm): far above noise, far below the factor between
the states."""
SHARE_MIN = 0.1
"""A state with fewer measurements is a disturbance, which medians ignore."""
LAUNCHES_MIN = 3


def in_one_state(launch_time_s: Floats) -> Floats:
    """Times (launches, sizes) with those of the rarer state replaced by NaN.

    Each time is compared with the fastest launch of its size. If nearly all agree, there is one
    state, and the times are returned unchanged. The slow state is kept if most times belong to it
    and some launch was slow throughout; otherwise the fast one is kept. Every size keeps at least
    one time.
    """
    if launch_time_s.shape[0] < LAUNCHES_MIN or not np.isfinite(launch_time_s).any(axis=0).all():
        return launch_time_s
    logs = np.log(launch_time_s)
    present = np.isfinite(logs)
    fast = logs - np.nanmin(logs, axis=0) <= REACH
    share = fast.sum() / present.sum()
    if not SHARE_MIN < share < 1 - SHARE_MIN:
        return launch_time_s
    wholly_slow = fast.sum(axis=1) <= SHARE_MIN * present.sum(axis=1)
    in_state = fast
    if share < 0.5 and wholly_slow.any():
        # Launches that were slow throughout give the slow state's time at every size.
        slow = np.where(wholly_slow[:, None], logs, np.nan)
        measured = np.isfinite(slow).any(axis=0)
        slow[0, ~measured] = np.nanmedian(logs[:, ~measured], axis=0)
        in_state = np.abs(logs - np.nanmedian(slow, axis=0)) <= REACH
        in_state[:, ~in_state.any(axis=0)] = True
    return np.where(in_state, launch_time_s, np.nan)
