# SPDX-License-Identifier: Apache-2.0
"""Linear algebra in one thread, and as before afterwards."""

from __future__ import annotations

import pytest

from nhalf.base import one_thread as module
from nhalf.base.one_thread import one_thread


def test_threads_are_restored_even_after_an_error() -> None:
    found = module._functions()
    if found is None:
        pytest.skip("NumPy is not linked with OpenBLAS here")
    get, put = found
    before = get()
    put(2)
    try:
        with pytest.raises(ZeroDivisionError), one_thread():
            assert get() == 1
            raise ZeroDivisionError
        assert get() == 2
    finally:
        put(before)


def test_other_libraries_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_functions", lambda: None)
    with one_thread():
        pass
