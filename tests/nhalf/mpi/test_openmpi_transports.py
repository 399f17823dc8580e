"""Which eager limits of Open MPI count in a launch."""

from __future__ import annotations

import pytest

from nhalf.mpi.components import limits_in_use, parameters_of

OLD = {f"btl_{name}_eager_limit": 4096 for name in ("openib", "tcp", "vader")}
NEW = {f"btl_{name}_eager_limit": 4096 for name in ("sm", "tcp", "uct")}


@pytest.mark.parametrize(
    ("limits", "words", "variables", "is_on_one_host", "transports"),
    [
        (OLD, "mpirun -n 2 ./a", {}, True, ["vader"]),
        (NEW, "mpirun -n 2 ./a", {}, True, ["sm"]),
        (NEW, "mpirun -n 2 ./a", {}, False, ["sm", "tcp", "uct"]),
        (NEW, "mpirun -n 2 ./a", {"OMPI_MCA_btl": "tcp,self"}, True, ["tcp"]),
        (NEW, "mpirun --mca btl tcp,self -n 2 ./a", {"OMPI_MCA_btl": "sm"}, True, ["tcp"]),
        (OLD, "mpirun -mca btl ^openib -n 2 ./a", {}, False, ["tcp", "vader"]),
        (OLD, "mpirun --mca btl ^vader,openib -n 2 ./a", {}, True, ["tcp"]),
        (OLD, "mpirun --mca btl self,sm,tcp -n 2 ./a", {}, True, ["vader"]),
        (NEW, "mpirun --mca pml ucx -n 2 ./a", {}, True, []),
        (NEW, "mpirun -n 2 ./a", {"OMPI_MCA_pml": "cm"}, False, []),
    ],
)
def test_only_limits_of_transports_in_use_count(
    limits: dict[str, int],
    words: str,
    variables: dict[str, str],
    is_on_one_host: bool,
    transports: list[str],
) -> None:
    parameters = parameters_of(words.split(), variables)
    in_use = limits_in_use(limits, parameters, is_on_one_host=is_on_one_host)
    assert list(in_use) == [f"btl_{name}_eager_limit" for name in transports]


def test_a_limit_of_no_transport_stays() -> None:
    assert limits_in_use({"LIMIT": 1}, {}, is_on_one_host=True) == {"LIMIT": 1}
