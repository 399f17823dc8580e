"""Machines are found by name and by path."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.machines import catalogue
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import write

PROMISED = (
    "sp1-mpl sp2-mpl sp2-ip sp2-pvme spp1000-pvm sunfire-link myrinet-gm poweredge-6650 "
    "sunfire-15k altix-bx2 x1-ssp x1-msp opteron-myrinet poweredge-ib pentiumpro-ethernet "
    "sci-torus gige-pair"
)


def test_every_machine_of_record_has_its_name() -> None:
    assert catalogue.of_studies() == sorted(PROMISED.split())
    assert [catalogue.machine(name).name for name in catalogue.names()] == catalogue.names()


def test_a_file_is_a_machine_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    write(Machine(name="mine"), path)
    for given in (path, str(path)):
        assert catalogue.machine(given) == Machine(name="mine")
        assert catalogue.is_machine(given)
    assert catalogue.is_machine("sp2-mpl")
    assert not catalogue.is_machine(tmp_path)
    assert not catalogue.is_machine("sp2-mp")


def test_a_record_goes_before_a_file_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(catalogue.FOLDER / "sp1-mpl.toml", tmp_path / "sp2-mpl")
    assert catalogue.machine("sp2-mpl").name == "sp2-mpl"
    assert catalogue.machine("./sp2-mpl").name == "sp1-mpl"
    assert catalogue.machine(tmp_path / "sp2-mpl").name == "sp1-mpl"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sp2-mp", r"unknown machine 'sp2-mp'; did you mean sp2-mpl"),
        ("", "is a folder"),
        ("none.toml", "no machine file none.toml"),
        ("runs/none", "no machine file runs/none"),
    ],
)
def test_what_is_neither_is_told(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        catalogue.machine(name)
    assert "\n" not in str(error.value)


def test_a_folder_is_told_how_it_becomes_a_machine_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder") as error:
        catalogue.machine(tmp_path)
    assert f"nhalf fit {tmp_path}" in error.value.remedy


@pytest.mark.parametrize("name", ["frontier", "sp2"])
def test_an_unknown_name_says_how_to_add_a_machine(name: str) -> None:
    with pytest.raises(InputError) as raised:
        catalogue.machine(name)
    assert "from 1995 to 2025; make a file of your own with nhalf fit" in raised.value.remedy


def test_the_years_of_the_hint_are_those_of_the_records() -> None:
    years = [year for name in catalogue.names() if (year := catalogue.machine(name).year)]
    assert f"from {min(years)} to {max(years)}" in catalogue.OF_RECORD
