"""Which processor is meant by a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.machines import processor_file
from nhalf.node.described import described, path_of_here


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def test_a_processor_that_was_not_measured_is_missing() -> None:
    with pytest.raises(MissingError, match="nhalf node"):
        described("here")


def test_the_processor_here_is_the_one_measured_last() -> None:
    power2 = described("power2")
    path_of_here().parent.mkdir(parents=True)
    processor_file.write(power2, path_of_here())
    assert described("here") == power2


def test_an_unknown_processor_is_refused() -> None:
    with pytest.raises(InputError, match="power2"):
        described("power")
