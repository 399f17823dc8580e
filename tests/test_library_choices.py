"""The page on what libraries choose says what its kept results say, and these come out again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import docs_hooks
import library_choices
import library_choices_tables
from library_choices import FOLDER, PLACES, SIZES
from nhalf.base.errors import InputError
from nhalf.mpi.tuner import read_variables
from nhalf.mpi.vendors.intel import misread

PAGE = library_choices.ROOT / "docs" / "library-choices.md"
NANOSECONDS = 1e-4
FILES = sorted(path for path in FOLDER.glob("*-*.json"))


def test_every_table_is_on_the_page() -> None:
    marks = re.findall(r"<!-- nhalf:(library-choices-[\w-]+) -->", PAGE.read_text("utf-8"))
    assert sorted(marks) == sorted(library_choices_tables.TABLES)
    assert "<!--" not in docs_hooks.fill(PAGE.read_text("utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_cell_has_a_choice_and_a_best(path: Path) -> None:
    cells = list(library_choices_tables.choices(json.loads(path.read_text("utf-8"))))
    assert [(cell.operation, cell.size_bytes) for cell in cells] == [
        (operation, size) for operation, sizes in SIZES.items() for size in sizes
    ]
    for cell in cells:
        # A choice that is one of the algorithms cannot be faster than the best of them.
        assert cell.loss > -library_choices_tables.SAME or not cell.own


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_under_its_file_a_library_takes_what_the_algorithms_took(path: Path) -> None:
    results = json.loads(path.read_text("utf-8"))
    if not results.get("file", {}).get("cells"):
        pytest.skip("no cell is worth a rule")
    for operation, size in results["file"]["cells"]:
        forced = [
            launch["times_us"].get(operation, {}).get(str(size)) for launch in results["launches"]
        ]
        own, found = forced[0], results["file"]["times_us"][operation][str(size)]
        assert found < 0.96 * own
    assert (FOLDER / "files" / results["file"]["name"]).is_file()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("files/*.env")), ids=lambda path: path.stem)
def test_intel_mpi_applies_its_files_as_they_are_written(path: Path) -> None:
    values = read_variables(path, lambda name, value: misread(value))
    assert all(name.startswith("I_MPI_ADJUST_") for name in values)


@pytest.mark.full
def test_one_cell_comes_out_again(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        library_choices.newest("mpich")
    except InputError as error:
        pytest.skip(str(error))
    library_choices.main(["--only", "mpich-sp2-mpl", "--again", "allreduce:1024"])
    own, best = (line.split() for line in capsys.readouterr().out.splitlines())
    assert own[:2] == ["allreduce:1024", "native"]
    for *_, kept_us, again_us in (own, best):
        assert float(again_us) == pytest.approx(float(kept_us), rel=NANOSECONDS)
    assert float(best[2]) < 0.9 * float(own[2])


def test_a_kept_launch_comes_out_again(tmp_path: Path) -> None:
    try:
        library = library_choices.newest("mpich")
    except InputError as error:
        pytest.skip(str(error))
    results = json.loads((FOLDER / "mpich-round-numbers.json").read_text("utf-8"))
    if library.name != results["library"]:
        pytest.skip(f"{library.name} is not the library of the page")
    (place,) = (place for place in PLACES if place.machine.endswith("round-numbers.toml"))
    kept = results["launches"][0]
    assert kept["forced"] == {}
    program = library_choices.compiled("mpich", tmp_path)
    times: dict[str, dict[str, float]] = {}
    assert library_choices.ran(library, place, program, ["barrier", "alltoall"], {}, times) == ""
    for operation, by_size in times.items():
        # What ran before moves the ranks' clocks by some nanoseconds against each other.
        assert by_size == pytest.approx(kept["times_us"][operation], rel=NANOSECONDS)
