"""More ranks than one daemon of a launcher starts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from nhalf.measure.virtual import start as module
from tests.nhalf.measure.virtual.programs import built, every_library, library_of, tried


@pytest.mark.parametrize(
    ("ranks", "hosts"),
    [
        (128, []),
        (129, ["-hosts", "part0,part1", "-ppn", "65"]),
        (257, ["-hosts", "part0,part1,part2", "-ppn", "86"]),
    ],
)
def test_a_daemon_of_mpich_has_128_ranks_at_most(
    ranks: int, hosts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setattr(module, "provider", lambda: Path("/net/libnhalf-fi.so"))
    monkeypatch.setattr(module, "wrappers", lambda *_: [])
    library = library_of("mpich")
    words = module.start_virtually(library, ["p"], ranks, []).command
    expected = [*hosts, *(["-bootstrap", "fork", "-localhost", "127.0.0.1"] if hosts else [])]
    assert words[1 : words.index("-bind-to")] == ["-n", str(ranks), *expected]


def test_ranks_of_several_daemons_are_one_world(programs: Path) -> None:
    program = built("mpich", "habits", programs)
    outcome = tried("altix-bx2", "mpich", 130, program, "barriers")
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stderr.startswith("nhalf: 130 ranks of mpich")


def test_a_rank_that_dies_ends_the_ranks_of_all_daemons(programs: Path) -> None:
    program = built("mpich", "habits", programs)
    outcome = tried("altix-bx2", "mpich", 130, program, "kill")
    # What Hydra says of it: 9, or 255 where a daemon of another node ends before it is heard.
    assert outcome.exit_code != 0
    assert re.search(r"rank 1 \(process \d+\) ended without MPI_Finalize$", outcome.stderr.strip())
    assert subprocess.run(["pgrep", "-f", str(program)], check=False).returncode == 1


@pytest.mark.full
@pytest.mark.parametrize("ranks", [192, 256, 400])
def test_hundreds_of_ranks_begin_and_end(ranks: int, programs: Path) -> None:
    program = built("mpich", "crowd", programs)
    outcome = tried("altix-bx2", "mpich", ranks, program)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.stdout.count("from ") == 3 * (ranks - 1)
    assert "wrong" not in outcome.stdout


@pytest.mark.full
@every_library
def test_128_ranks_take_less_than_6_gb(vendor: str, programs: Path) -> None:
    outcome = tried("altix-bx2", vendor, 128, built(vendor, "habits", programs), "memory")
    assert outcome.exit_code == 0, outcome.stderr
    sizes_KiB = [int(line) for line in outcome.stdout.split()]
    assert len(sizes_KiB) == 128
    assert 0 < sum(sizes_KiB) * 1024 < 6e9
