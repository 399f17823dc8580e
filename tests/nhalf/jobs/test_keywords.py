"""What Python asks of a run becomes the request that `nhalf run` makes of its words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nhalf
from nhalf.base.errors import InputError
from nhalf.jobs.keywords import Options, request_of
from nhalf.machines.catalogue import FOLDER


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
    for word in Options.__annotations__:
        assert len(request_of({word: "1"}).given | {word}) <= 2


def test_words_of_the_command_line_and_former_names_are_taken() -> None:
    assert request_of({"bytes": "0:4M"}).sizes == request_of({"sizes": "0:4M"}).sizes == "0:4M"
    assert request_of({"bytes": [8, 64]}).sizes == "8,64"
    assert request_of({"bytes": 8}).given == {"sizes"}
    with pytest.raises(InputError, match="--bytes is given by two names"):
        request_of({"bytes": 8, "sizes": 8})


@pytest.mark.parametrize("values", [{"launches": "many"}, {"axis": 3}, {"bytes": 1.5}])
def test_a_value_that_an_option_does_not_take_is_named(values: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(values))}=.* is no value of --"):
        request_of(values)


def test_an_option_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="unknown option 'byte'; did you mean bytes"):
        request_of({"byte": 8})


def test_predictions_take_names_of_machines_and_texts() -> None:
    machine = nhalf.machine("sp2-mpl")
    expected = nhalf.predict("bcast", machine, ranks=[8, 32], sizes=[8, 1024]).as_json()
    for words in (
        {"machine": "sp2-mpl", "ranks": "8,32", "bytes": "8,1K"},
        {"machine": "sp2-mpl:MPL", "ranks": (8, 32), "bytes": [8, 1024]},
        {"machine": FOLDER / "sp2-mpl.toml", "ranks": "8,32", "sizes": "8,1K"},
    ):
        assert nhalf.predict("bcast", **words).as_json() == expected


@pytest.mark.parametrize(
    "words",
    [
        {"machine": "sp2-mpll"},
        {"machine": 2},
        {"machine": "sp2-mpl", "ranks": "x"},
        {"machine": "sp2-mpl", "ranks": [2.5]},
        {"machine": "sp2-mpl", "bytes": [-1]},
        {"machine": "sp2-mpl", "bytes": "8", "sizes": "8"},
    ],
)
def test_predictions_refuse_what_they_cannot_read(words: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        nhalf.predict("bcast", **words)


def test_the_package_says_what_it_offers() -> None:
    assert all(hasattr(nhalf, name) for name in nhalf.__all__)
    assert {"run", "open", "figures", "history", "machine", "predict"} <= set(nhalf.__all__)
