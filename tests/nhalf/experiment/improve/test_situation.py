"""Where a search keeps what ranks read."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.experiment.improve.situation import Situation, parent_folder, search_folder
from nhalf.mpi.launch_settings import parse_launch

ONE = {"SLURM_JOB_NODELIST": "n1", "SLURM_JOB_CPUS_PER_NODE": "4"}
TWO = {"SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_CPUS_PER_NODE": "4(x2)"}


@pytest.mark.parametrize(
    ("words", "environment", "is_shared"),
    [
        ("mpiexec -n 2 ./p", {}, False),
        ("mpiexec -n 2 ./p", ONE, False),
        ("mpiexec -n 2 ./p", TWO, True),
        ("mpiexec -n 2 ./p", {"SLURM_JOB_NODELIST": "n[1-"}, False),
        ("mpiexec -hosts a,b -n 2 ./p", {}, True),
        ("mpirun --host a:1,b:1 -n 2 ./p", {}, True),
        ("srun --nodes=2 ./p", {}, True),
        ("srun -N 2 ./p", {}, True),
        ("./run.sh -N 2", {}, False),
    ],
)
def test_files_are_where_all_hosts_see_them(
    words: str, environment: dict[str, str], is_shared: bool
) -> None:
    launch = parse_launch(words.split(), environment)
    assert parent_folder(launch) == (Path.cwd() if is_shared else None)
    assert Situation(launch, None).is_on_one_host == (not is_shared)


def test_a_folder_that_cannot_be_made_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(**_: object) -> None:
        raise OSError(30, "Read-only file system")

    launch = parse_launch(["mpiexec", "-hosts", "a,b", "./p"], {})
    monkeypatch.chdir(tmp_path)
    with search_folder(launch) as name:
        assert Path(name).parent == tmp_path
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("tempfile.TemporaryDirectory", refused)
    with pytest.raises(MissingError, match=f"cannot write in {tmp_path}: Read-only.*all hosts"):
        search_folder(launch).__enter__()
    with pytest.raises(MissingError, match="TMPDIR"):
        search_folder(parse_launch(["./p"], {})).__enter__()
