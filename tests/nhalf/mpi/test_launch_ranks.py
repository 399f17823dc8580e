"""The number of ranks of a command, as each launcher is told it."""

from __future__ import annotations

import pytest

from nhalf.mpi.launch_ranks import ranks_in
from nhalf.mpi.launch_settings import parse_launch


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("mpiexec -n 4 ./program -n 8", 4),
        ("mpiexec.hydra -ppn 2 -np 4 ./program", 4),
        ("prterun -c 4 ./program", 4),
        ("mpirun --np=4 ./program", 4),
        ("srun -n4 -c 2 ./program", 4),
        ("srun -N 2 --ntasks=4 ./program", 4),
        ("mpiexec -n 2 -n 4 ./program", 4),
        ("nhalf try --machine sp2 --ranks 4 -- ./program", 4),
        ("mpiexec ./program", None),
        ("mpiexec -n all ./program", None),
        ("mpiexec -n 2 ./one : -n 2 ./other", None),
        ("srun -c 2 ./program", None),
        ("./program -n 4", None),
    ],
)
def test_the_last_option_that_names_it_counts(text: str, ranks: int | None) -> None:
    assert ranks_in(parse_launch(text.split(), {})) == ranks
