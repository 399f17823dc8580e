"""Which variables are of a job."""

from __future__ import annotations

import pytest

from nhalf.mpi.job import is_of_allocation, is_of_job


@pytest.mark.parametrize(
    ("variable", "is_it"),
    [
        *(
            (name, True)
            for name in ("PMI_RANK", "PMIX_NAMESPACE", "SLURM_JOB_ID", "HYDI_CONTROL_FD")
        ),
        ("PMI_RANK", True),
        ("PMIX_NAMESPACE", True),
        ("SLURM_JOB_ID", True),
        ("HYDI_CONTROL_FD", True),
        ("OMPI_COMM_WORLD_RANK", True),
        ("MPI_LOCALRANKID", True),
        ("PMIX_MCA_psec", False),
        ("OMPI_MCA_pml", False),
        ("I_MPI_FABRICS", False),
        ("PATH", False),
        ("", False),
    ],
)
def test_variables_of_a_job(variable: str, is_it: bool) -> None:
    assert is_of_job(variable) == is_it


@pytest.mark.parametrize(
    ("variable", "is_it"),
    [
        ("PBS_NODEFILE", True),
        ("I_MPI_HYDRA_BOOTSTRAP", True),
        ("PRTE_MCA_plm", True),
        ("OMPI_MCA_orte_default_hostfile", True),
        ("OMPI_MCA_pml", False),
        ("I_MPI_ADJUST_BCAST", False),
        ("MPIR_CVAR_NOLOCAL", False),
        ("", False),
    ],
)
def test_variables_of_an_allocation(variable: str, is_it: bool) -> None:
    assert is_of_allocation(variable) == is_it
