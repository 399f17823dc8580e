# SPDX-License-Identifier: Apache-2.0
"""Where a search keeps what ranks read."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.decide.improve.situation import Situation
from nhalf.decide.improve.working_folder import parent_folder
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
