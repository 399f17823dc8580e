"""The search for circles of objects is as it was afterwards."""

from __future__ import annotations

import gc

import pytest

from nhalf.base.collection import without_collection


def test_it_is_off_meanwhile_and_on_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"), without_collection():
        assert not gc.isenabled()
        with without_collection():
            pass
        assert not gc.isenabled()
        raise ValueError("inside")
    assert gc.isenabled()
