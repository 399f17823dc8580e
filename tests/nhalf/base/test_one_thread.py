"""Linear algebra in one thread, and as before afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from nhalf.base.one_thread import one_thread


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_threads_are_restored_even_after_an_error() -> None:
    assert np.linalg.det(np.eye(2)) == 1
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ZeroDivisionError), one_thread():
            assert blas_threads() == {1}
            raise ZeroDivisionError
        assert blas_threads() == {2}
