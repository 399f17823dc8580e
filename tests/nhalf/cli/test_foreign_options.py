"""Options of launchers and of other suites are answered with those of nhalf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nhalf.cli.foreign_names import COUNTERPARTS

Call = Callable[..., Any]


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("run -n 4", "use --ranks 4"),
        ("run --np 4", "use --ranks 4"),
        ("run -np 8", "use --ranks 8"),
        ("run -n8", "use --ranks 8"),
        ("run --np=6", "use --ranks 6"),
        ("run --nprocs", "use --ranks 4"),
        ("run --size 8", "use --bytes 8"),
        ("run -m 0:1M", "use --bytes 0:1M"),
        ("run --iterations 100", "use --launches 10 or --budget 60s"),
        ("run --time 30s", "use --budget 30s"),
        ("run --hostfile hosts", "use --host-file hosts"),
        ("run --library mpich", "use --mpi mpich"),
        ("run --output x", "use --out x"),
        ("compare a b --threshold 3%", "use --tolerance 3%"),
        ("check a --baseline b", "use --against b"),
        ("predict bcast --machine sp2-mpl -n 4", "use --ranks 4"),
        ("trace -n 4 ./app", "put the launcher in: nhalf trace -- mpiexec -n 4 ./app"),
        ("improve -np 4 ./app", "nhalf improve -- mpiexec -np 4 ./app"),
        ("trace --hostfile h -n 4 ./app", "nhalf trace -- mpiexec --hostfile h -n 4 ./app"),
        ("trace --out t -n2 ./app", "nhalf trace --out t -- mpiexec -n2 ./app"),
        ("trace --ntasks=2 -- ./app x", "nhalf trace -- srun --ntasks=2 ./app x"),
        ("trace -n 4", "nhalf trace -- mpiexec -n 4 ./program"),
        ("trace -n", "nhalf trace -- mpiexec -n 4 ./program"),
        ("try -n 4 ./app", "use --ranks 4"),
    ],
)
def test_an_option_by_another_name_is_answered_with_ours(
    call: Call, line: str, remedy: str
) -> None:
    call(*line.split()).is_error(2, "has no option -", remedy)


def test_an_option_that_nothing_resembles_is_left_to_the_parser(call: Call) -> None:
    call("run", "--frobnicate").is_error(2, "No such option '--frobnicate'")


def test_no_option_of_ours_is_taken_for_a_foreign_one() -> None:
    theirs = [option for options in COUNTERPARTS.values() for option in options]
    assert all(option.startswith("-") for option in theirs)
    for ours, options in COUNTERPARTS.items():
        assert ours not in options
        assert len(set(options)) == len(options), ours
