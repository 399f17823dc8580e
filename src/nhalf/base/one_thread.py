"""Linear algebra in one thread.

The matrices of models are small. OpenBLAS shares even these among all cores, and its threads spin
while they wait: on a busy machine the same inversions take 30 times the processor time, and beside
a measurement they take cores from its ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """NumPy's linear algebra uses one thread; afterwards as many as before."""
    with _pools().limit(limits=1, user_api="blas"):
        yield


@cache
def _pools() -> ThreadpoolController:
    """The thread pools of the libraries that are loaded, NumPy's among them."""
    import numpy as np  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
