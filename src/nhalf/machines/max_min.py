# SPDX-License-Identifier: Apache-2.0
"""The rates of concurrent flows that share resources: max-min fairness by progressive filling.

All flows grow alike; where a resource is full, those that use it stop, and the others go on
(D. Bertsekas, R. Gallager, Data Networks, 1992, section 6.5).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from nhalf.base.arrays import Floats

FULL = 1e-9
"""The share of a capacity that counts as none left."""


def max_min(use: csr_array, capacity: Floats, most: Floats) -> Floats:
    """The rate of each flow, of the shape (draws, flows).

    `use` (resources, flows) is how often a flow passes a resource, `capacity` (draws, resources)
    what that moves, `most` (draws, flows) what a flow has alone; bytes per second.
    """
    rates = np.zeros_like(most)
    left = capacity.astype(np.float64)
    growing = np.ones(most.shape, dtype=bool)
    passing = use.T.tocsr()
    while growing.any():
        load = (use @ growing.T.astype(np.float64)).T
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(load > 0, left / load, np.inf).min(axis=1, initial=np.inf)
        room = np.minimum(room, np.where(growing, most - rates, np.inf).min(axis=1))
        room = np.where(growing.any(axis=1), np.maximum(room, 0.0), 0.0)[:, None]
        rates += room * growing
        left -= room * load
        full = (left <= FULL * capacity).astype(np.float64)
        growing &= (rates < most * (1 - FULL)) & ((passing @ full.T).T == 0)
    return rates
