"""Where a run measures."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.machines.layout import Layout
from nhalf.sites.hosts import Host
from nhalf.sites.placement import allowed_cpus
from nhalf.sites.site import HERE, Site, find_site
from nhalf.sites.start import cores

FOUR = Site(tuple(Host(f"n{i}", 2) for i in range(1, 5)))


@pytest.fixture(autouse=True)
def outside_of_any_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_NODELIST", "PBS_NODEFILE", "LSB_MCPU_HOSTS", "PE_HOSTFILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("placement", "ranks", "layout"),
    [
        ("cores", 2, Layout(1, 2)),
        ("cores", 3, Layout(2, 2)),
        ("cores", 8, Layout(4, 2)),
        ("free", 16, Layout(4, 4)),
        ("same-cache", 2, Layout(1, 2)),
        ("same-node", 2, Layout(1, 2)),
        ("other-node", 2, Layout(2, 1, cyclic=True)),
        ("other-node", 8, Layout(4, 2, cyclic=True)),
        ("2x1", 2, Layout(2, 1)),
        ("4x2:cyclic", 8, Layout(4, 2, cyclic=True)),
        ("3x2+1", 7, Layout(4, 2, missing=1)),
    ],
)
def test_layouts(placement: str, ranks: int, layout: Layout) -> None:
    assert FOUR.layout(placement, ranks) == layout


def test_one_machine() -> None:
    assert HERE.layout("1x2", 2) == Layout(1, 2)
    assert HERE.expected_hosts("1x2", 2) == []
    assert HERE.spread(Layout(1, 2)).hosts == ()
    with pytest.raises(MissingError, match="one host only: 2x1 needs 2"):
        HERE.layout("2x1", 2)
    with pytest.raises(MissingError, match="one host only: other-node needs several"):
        HERE.layout("other-node", 2)


def test_what_hosts_cannot_give() -> None:
    with pytest.raises(MissingError, match="there are 4 hosts only: 5x1 needs 5"):
        FOUR.layout("5x1", 5)
    with pytest.raises(MissingError, match=r"there are 4 hosts only: 4x2\+1 needs 5"):
        FOUR.layout("4x2+1", 9)
    with pytest.raises(InputError, match="4x2 holds 8 ranks, not 4"):
        FOUR.layout("4x2", 4)


def test_what_launchers_are_told() -> None:
    spread = FOUR.spread(Layout(2, 3, cyclic=True))
    assert (spread.hosts, spread.ranks_per_host, spread.cyclic) == (("n1", "n2"), 3, True)
    assert spread.oversubscribed
    assert not FOUR.spread(Layout(2, 2)).oversubscribed


def test_cores_of_all_hosts_or_of_the_one_machine_that_they_share() -> None:
    assert (FOUR.cores, FOUR.cores_per_host) == (8, 2)
    assert dataclasses.replace(FOUR, shares_cores=True).cores == HERE.cores == cores()


def test_ranks_by_host() -> None:
    assert FOUR.expected_hosts("other-node", 5) == ["n1", "n2", "n3", "n4", "n1"]
    assert FOUR.expected_hosts("cores", 4) == ["n1", "n1", "n2", "n2"]


def test_the_dead_are_left_out() -> None:
    left = FOUR.without({"n2": "does not answer"})
    assert [host.name for host in left.hosts] == ["n1", "n3", "n4"]


def test_hosts_that_are_named_count_more_than_the_allocation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SLURM_JOB_NODELIST", "m[1-2]")
    assert [host.name for host in find_site("", "", "").hosts] == ["m1", "m2"]
    assert [host.name for host in find_site("a,b", "", "").hosts] == ["a", "b"]
    (tmp_path / "hosts").write_text("c:2\n")
    assert find_site("", str(tmp_path / "hosts"), "").hosts == (Host("c", 2),)


def test_nothing_said_is_this_machine() -> None:
    assert find_site("", "", "") == HERE
    assert not HERE.has_several_hosts


def test_what_cannot_be() -> None:
    with pytest.raises(InputError, match="twice"):
        find_site("a", "b", "")
    with pytest.raises(InputError, match="launcher 'ssh'"):
        find_site("", "", "ssh")


def test_words_for_layouts() -> None:
    assert [FOUR.layout_text(word) for word in ("every-host", "whole-host", "cores", "2x1")] == [
        "4x1", "1x2", "cores", "2x1",
    ]  # fmt: skip
    assert HERE.layout_text("every-host") == ""
    assert HERE.layout_text("whole-host") == f"1x{max(cores(), 2)}"


def test_ranks_of_one_host_of_a_lab_have_cores_of_their_own() -> None:
    lab = dataclasses.replace(FOUR, shares_cores=True)
    here = sorted(allowed_cpus())
    assert lab.cores_of_one_host("1x1", Layout(1, 1)) == here[:1]
    assert lab.cores_of_one_host("free", Layout(1, 1)) == []
    assert lab.cores_of_one_host("2x1", Layout(2, 1)) == []
    assert lab.cores_of_one_host("cores", Layout(1, len(here) + 1)) == []
    assert FOUR.cores_of_one_host("1x1", Layout(1, 1)) == []
