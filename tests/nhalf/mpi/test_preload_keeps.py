"""What preloaded collectives have learned is kept, and where later runs start."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.mpi import Library
from nhalf.mpi.preload import KEEP, preload
from tests.nhalf.mpi.routed_programs import FOUND, ROUTED, built, routed, started

LEARN = [one for one in ROUTED if one not in ("barrier", "reduce-scatter")]
WON = "shared-memory 50"
HEADING = "# nhalf lessons 1\n"
ENOUGH, TOO_FEW = "150", "20"
"""Calls of a class with which trials may end, and with which none begins but by what is kept."""
BY_RANK = 'export NHALF_COLL_KEEP="$0.${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"; exec "$@"'


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(one.name, marks=[] if one.vendor == "mpich" else [pytest.mark.full])
        for one in FOUND
    ],
)
def library(request: pytest.FixtureRequest) -> Library:
    return next(one for one in FOUND if one.name == request.param)


@pytest.fixture(scope="module")
def command(library: Library, folder: Path) -> list[str]:
    without = ["without-errors"] if library.vendor == "intel" else []
    return [str(built(library, "learns", folder)), "CALLS", *without]


@pytest.fixture(scope="module")
def lessons(library: Library, command: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file by which shared memory has won everywhere on two ranks."""
    path = tmp_path_factory.mktemp("kept") / "lessons"
    path.write_text(HEADING)
    told = re.search(r"lessons has no lessons for (\S+)\n", run(library, command, "1", path))
    assert told is not None
    sizes = [2**k for k in range(21)]
    rows = [f"2 barrier 0 {WON}", *(f"2 {one} {size} {WON}" for one in LEARN for size in sizes)]
    return HEADING + "".join(f"{told[1]} {row}\n" for row in rows)


def run(library: Library, command: list[str], calls: str, keep: Path | None) -> str:
    words = [calls if word == "CALLS" else word for word in command]
    loaded = routed(library, Path(command[0]), None, keep)
    code, output = started(library, 2, loaded, words)
    assert code == 0, output
    assert "0 wrong" in output
    return output


def numbers(output: str) -> tuple[int, int]:
    """How many classes of calls have begun sooner, and how many have learned."""
    told = re.search(r"let (\d+) classes begin sooner, and (\d+) have learned", output)
    assert told is not None, output
    return int(told[1]), int(told[2])


@pytest.mark.full
def test_jobs_beside_each_other_keep_what_they_learn(
    library: Library, command: list[str], lessons: str, tmp_path: Path
) -> None:
    path = tmp_path / "lessons"
    path.write_text(lessons.replace(" 2 ", " 77 "))
    with ThreadPoolExecutor() as jobs:
        runs = [jobs.submit(run, library, command, ENOUGH, path) for _ in range(2)]
    learned = [numbers(one.result())[1] for one in runs]
    assert list(tmp_path.iterdir()) == [path]
    heading, columns, *rows = path.read_text().splitlines()
    assert heading + "\n" == HEADING
    assert columns.startswith("# library ") or not any(learned)
    assert set(rows) >= set(lessons.replace(" 2 ", " 77 ").splitlines()[2:])
    own = [row for row in rows if " 77 " not in row]
    # Who writes last may not have seen what the other one wrote.
    assert len(own) >= min((count for count in learned if count > 0), default=0)
    assert all(
        re.search(r" [12] \S+ \d+ (native|shared-memory\S*|single-copy) \d+$", row) for row in own
    )


def test_a_later_run_begins_sooner_and_gives_the_same(
    library: Library, command: list[str], lessons: str, tmp_path: Path
) -> None:
    path = tmp_path / "lessons"
    path.write_text(lessons)
    assert "calls tried" not in run(library, command, TOO_FEW, None)
    assert numbers(run(library, command, TOO_FEW, path))[0] > len(LEARN)


@pytest.mark.parametrize(
    ("sought", "replaced", "complaint"),
    [
        (r" 2 (?=[a-z])", " 77 ", "let 0 classes begin sooner"),
        (r" 50$", "", "is damaged in line 2"),
    ],
    ids=["ranks", "damaged"],
)
def test_lessons_of_others_start_nothing(
    library: Library,
    command: list[str],
    lessons: str,
    tmp_path: Path,
    sought: str,
    replaced: str,
    complaint: str,
) -> None:
    path = tmp_path / "lessons"
    path.write_text(re.sub(sought, replaced, lessons, flags=re.MULTILINE))
    output = run(library, command, TOO_FEW, path)
    assert complaint in output
    assert "calls tried" not in output


def test_ranks_with_different_lessons_start_with_none(
    library: Library, command: list[str], lessons: str, tmp_path: Path
) -> None:
    (tmp_path / "lessons.0").write_text(lessons)
    by_rank = ["sh", "-c", BY_RANK, str(tmp_path / "lessons"), *command]
    by_rank = [TOO_FEW if word == "CALLS" else word for word in by_rank]
    loaded = routed(library, Path(command[0]), None)
    code, output = started(library, 2, loaded, by_rank)
    assert code == 0, output
    assert "0 wrong" in output
    assert output.count("the ranks have different lessons") == 1
    assert "calls tried" not in output
    (tmp_path / "lessons.1").write_text(lessons)
    code, output = started(library, 2, loaded, by_rank)
    assert code == 0, output
    assert "the ranks have different lessons" not in output
    assert numbers(output)[0] > 0


def test_a_place_that_takes_no_file_is_told_and_does_no_harm(
    library: Library, command: list[str]
) -> None:
    output = run(library, command, ENOUGH, Path("/proc/nhalf-lessons"))
    assert output.count("keeps nothing of this run") == (numbers(output)[1] > 0)


def test_what_cannot_be_kept_is_refused(library: Library, folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "best.table"
    table.write_text("# nhalf decision table 1\n")
    with pytest.raises(InputError, match="nothing is learned"):
        preload(library, None, table, FOUND, tmp_path / "lessons")
    with pytest.raises(InputError, match="there is no folder"):
        preload(library, None, None, FOUND, tmp_path / "absent/lessons")
    with pytest.raises(InputError, match="not a plain file"):
        preload(library, None, None, FOUND, tmp_path)
    chosen = preload(library, None, None, FOUND, tmp_path / "lessons")
    assert chosen.variables[KEEP] == str(tmp_path / "lessons")
