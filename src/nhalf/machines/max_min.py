"""The rates of concurrent flows that share resources: max-min fairness by progressive filling.

All flows grow equally; when a resource is full, its flows stop, and the others continue
(D. Bertsekas, R. Gallager, Data Networks, 1992, section 6.5).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from nhalf.base.arrays import Floats

FULL = 1e-9
"""A resource is full if at most this share of its capacity is free."""


def max_min(use: csr_array, capacity: Floats, alone_Bps: Floats) -> Floats:
    """The rate of each flow, of the shape (draws, flows).

    `use` (resources, flows) is how often a flow passes a resource, `capacity` (draws, resources)
    the rate of a resource, `alone_Bps` (draws, flows) that of a single flow; bytes per second.
    """
    rates = np.zeros_like(alone_Bps)
    free_capacity = capacity.astype(np.float64)
    growing = np.ones(alone_Bps.shape, dtype=bool)
    resources_of_flows = use.T.tocsr()
    while growing.any():
        load = (use @ growing.T.astype(np.float64)).T
        with np.errstate(divide="ignore", invalid="ignore"):
            increment = np.where(load > 0, free_capacity / load, np.inf).min(axis=1, initial=np.inf)
        increment = np.minimum(increment, np.where(growing, alone_Bps - rates, np.inf).min(axis=1))
        increment = np.where(growing.any(axis=1), np.maximum(increment, 0.0), 0.0)[:, None]
        rates += increment * growing
        free_capacity -= increment * load
        is_full = (free_capacity <= FULL * capacity).astype(np.float64)
        growing &= (rates < alone_Bps * (1 - FULL)) & ((resources_of_flows @ is_full.T).T == 0)
    return rates
