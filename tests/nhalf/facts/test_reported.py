"""What libraries report of their own parameters, against what was asked and what was measured."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.jumps import EagerLimit, eager_limits_of
from nhalf.facts.reported import ignored_settings, may_be_same, witness
from nhalf.present.findings.protocols import SettingIgnored
from nhalf.store.places import StartedLaunch
from tests.nhalf.synthetic import build_measurements

OPEN_MPI, ASKED = "openmpi-5.0.11", "openmpi-5.0.11+asked"
LIMIT = "btl_sm_eager_limit"


def facts_of(asked: dict[str, str], **variables: str) -> Facts:
    """A run of Open MPI with and without a setting, under which it reports these variables."""
    settings = [{"name": "asked", "variables": asked}]
    environment: dict[str, Any] = {
        "plan": {"settings": settings}, "eager_limits": {OPEN_MPI: {LIMIT: 4096}},
    }  # fmt: skip
    started = {
        (OPEN_MPI, 2, "cores"): [StartedLaunch(OPEN_MPI, variables={LIMIT: "4096"})],
        (ASKED, 2, "cores"): [StartedLaunch(ASKED, variables=variables)],
    }
    return Facts(
        build_measurements(libraries=(OPEN_MPI,), sizes=(8,)),
        environments={"run": environment},
        find_started=lambda: {"run": started},
    )


def test_a_setting_that_the_library_has_is_no_finding() -> None:
    facts = facts_of(
        {"OMPI_MCA_btl_sm_eager_limit": "16384", "OMPI_MCA_unknown": "1", "OTHER": "x"},
        btl_sm_eager_limit="16384",
    )
    assert facts.reported_environments["run"]["reported"][ASKED] == {LIMIT: "16384"}
    assert list(SettingIgnored().find(facts)) == []


def test_a_setting_that_it_does_not_have_is_named_once() -> None:
    facts = facts_of({"OMPI_MCA_btl_sm_eager_limit": "16384"}, btl_sm_eager_limit="4096")
    settings = list(ignored_settings(facts.reported_environments))
    assert [(setting.mpi, setting.in_launch) for setting in settings] == [(ASKED, "4096")]
    [finding] = SettingIgnored().find(facts)
    assert finding.text.endswith(
        "was started with OMPI_MCA_btl_sm_eager_limit=16384, but reports 4096 (MPI_T): the setting "
        "did not take effect."
    )


def test_the_limit_in_the_launch_counts_and_not_that_of_other_launches() -> None:
    facts = facts_of({"OMPI_MCA_btl_sm_eager_limit": "16384"}, btl_sm_eager_limit="16384")
    environment = facts.reported_environments["run"]
    assert eager_limits_of(environment, ASKED) == (EagerLimit(LIMIT, 16384, is_reported=True),)
    assert eager_limits_of(environment, OPEN_MPI) == (EagerLimit(LIMIT, 4096, is_reported=True),)
    # A library that reports nothing keeps what its program says, without the setting's name none.
    silent = facts_of({}).reported_environments["run"]
    assert eager_limits_of(silent, ASKED) == ()


@pytest.mark.parametrize(
    ("asked", "has", "same"),
    [
        ("6", "6 (binomial)", True),
        ("Binomial", "6 (binomial)", True),
        ("5", "6 (binomial)", False),
        ("true", "1", True),
        ("no", "1", False),
        ("16k", "16384", True),  # it may be
        ("4096", "16384", False),
        ("-1", "-1", True),
        ("/a/rules", "/a/rules", True),
        ("/a/rules", "", False),
    ],
)
def test_numbers_words_and_paths_are_compared_as_libraries_read_them(
    asked: str, has: str, *, same: bool
) -> None:
    assert may_be_same(asked, has) is same


@pytest.mark.parametrize(
    ("reported", "verdict"),
    [
        ({}, "silent"),
        ({"coll_tuned_bcast_algorithm": "6"}, "silent"),  # a number for a word
        ({"coll_tuned_bcast_algorithm": "6 (binomial)"}, "in part"),
        ({"coll_tuned_bcast_algorithm": "6 (binomial)", "mpi_x": "1"}, "taken"),
        ({"coll_tuned_bcast_algorithm": "5 (chain)", "mpi_x": "1"}, "not taken"),
        ({"coll_tuned_bcast_algorithm": "6 (binomial)", "mpi_x": ""}, "not taken"),
        (
            {
                "coll_tuned_bcast_algorithm": "6 (binomial)",
                "mpi_x": "1",
                "coll_tuned_use_dynamic_rules": "0 (false)",
            },
            "not taken",
        ),
    ],
)
def test_a_library_is_a_witness_of_what_it_certainly_says(
    reported: dict[str, str], verdict: str
) -> None:
    setting = witness({"OMPI_MCA_coll_tuned_bcast_algorithm": "binomial", "mpi_x": "yes"}, reported)
    assert setting.verdict == verdict
    assert ("mpi_x" in setting.silent_variables) == ("mpi_x" not in reported)


INTEL = "intel-2021.19.0"
THRESHOLD = "I_MPI_SHM_EAGER_THRESHOLD"


@pytest.mark.parametrize(
    ("variable", "value", "reported", "verdict"),
    [
        (THRESHOLD, "4096", {"MPIR_CVAR_INTEL_SHM_EAGER_THRESHOLD": "4096"}, "taken"),
        (THRESHOLD, "4096", {"MPIR_CVAR_INTEL_SHM_EAGER_THRESHOLD": "8192"}, "not taken"),
        (THRESHOLD, "4096", {"MPIR_CVAR_INTEL_SHM_EAGER_THRESHOLD": "-1"}, "silent"),
        ("I_MPI_THREAD_YIELD", "3", {"MPIR_CVAR_IMPI_THREAD_YIELD": "3"}, "taken"),
        ("I_MPI_ASYNC_PROGRESS", "on", {"MPIR_CVAR_ASYNC_PROGRESS": "1"}, "taken"),
        ("I_MPI_ADJUST_BCAST", "3", {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "1"}, "silent"),
    ],
)
def test_intel_mpi_reports_its_variables_by_other_names(
    variable: str, value: str, reported: dict[str, str], verdict: str
) -> None:
    assert witness({variable: value}, reported).verdict == verdict


def test_a_limit_of_intel_mpi_is_one_that_it_reports() -> None:
    reported = {INTEL: {"MPIR_CVAR_INTEL_SHM_EAGER_THRESHOLD": "4096"}}
    environment = {"variables": {THRESHOLD: "4K"}, "reported": reported}
    assert eager_limits_of(environment, INTEL) == (EagerLimit(THRESHOLD, 4096, is_reported=True),)
