# SPDX-License-Identifier: Apache-2.0
"""Linear algebra in one thread.

The matrices of models are small. OpenBLAS shares even these among all cores, and its threads spin
while they wait: on a busy machine the same inversions take 30 times the processor time, and beside
a measurement they take cores from its ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
"""Of the functions, in NumPy's wheels and in the libraries of distributions."""


@contextmanager
def one_thread() -> Iterator[None]:
    """NumPy's OpenBLAS uses one thread; afterwards as many as before. Others are left alone."""
    found = _functions()
    if found is None:
        yield
        return
    get, put = found
    before = get()
    put(1)
    try:
        yield
    finally:
        put(before)


@cache
def _functions() -> tuple[Callable[[], int], Callable[[int], object]] | None:
    """Those that return and set the number of threads, None without OpenBLAS."""
    import ctypes

    import numpy as np

    # Names are looked up in the libraries that NumPy's extension is linked with, too.
    library = ctypes.CDLL(vars(np.linalg)["_umath_linalg"].__file__)
    for name in NAMES:
        if hasattr(library, name.format("set")):
            return _pair(library, name)
    return None


def _pair(library: ctypes.CDLL, name: str) -> tuple[Callable[[], int], Callable[[int], object]]:
    get, put = library[name.format("get")], library[name.format("set")]
    return lambda: int(get()), put
