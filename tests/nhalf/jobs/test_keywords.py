# SPDX-License-Identifier: Apache-2.0
"""What Python asks of a run becomes the request that `nhalf run` makes of its words."""

from __future__ import annotations

from pathlib import Path

import pytest

import nhalf
from nhalf.base.errors import InputError
from nhalf.jobs.keywords import Options, request_of


def test_values_become_what_the_command_takes() -> None:
    asked = request_of(
        {
            "pattern": ["stream", "exchange"],
            **{"ranks": [2, 4], "sizes": 8, "mpi": "openmpi", "launches": 3},
            **{"axis": "pairs=1,2", "mpi_prefix": ["/a"], "out": "here", "precision": 0.1},
        }
    )
    assert (asked.pattern, asked.ranks, asked.sizes) == ("stream,exchange", "2,4", "8")
    assert (asked.axis, asked.mpi_prefix) == (("pairs=1,2",), (Path("/a"),))
    assert (asked.launches, asked.precision, asked.out) == (3, 0.1, Path("here"))
    assert {"pattern", "ranks", "launches"} <= asked.given
    assert "budget" not in asked.given, "what nobody said leaves a study as it is"


def test_every_option_is_one_of_the_command() -> None:
    assert request_of(dict.fromkeys(Options.__annotations__, "1")).study == "1"


def test_an_option_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="unknown option 'bytes'"):
        request_of({"bytes": 8})


def test_the_package_says_what_it_offers() -> None:
    assert all(hasattr(nhalf, name) for name in nhalf.__all__)
    assert {"run", "open", "figures", "history", "machine", "predict"} <= set(nhalf.__all__)
