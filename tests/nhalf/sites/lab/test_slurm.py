from __future__ import annotations

from nhalf.sites.lab import slurm
from nhalf.sites.lab.layout import Lab

LAB = Lab("some", 2, cpus=8)


def test_every_path_of_the_configuration_is_inside_of_the_folder() -> None:
    paths = [
        value.removeprefix("socket=")
        for line in slurm.configuration(LAB).splitlines()
        for value in [line.partition("=")[2]]
        if value.removeprefix("socket=").startswith("/")
    ]
    assert len(paths) == 7
    assert all(path.startswith("/run/nhalf-lab/some/") for path in paths)


def test_nodes_and_head_have_the_addresses_of_the_lab() -> None:
    lines = slurm.configuration(LAB).splitlines()
    assert "SlurmctldHost=ctl(198.18.0.254)" in lines
    assert [line for line in lines if line.startswith("NodeName")] == [
        "NodeName=n1 NodeHostname=n1 NodeAddr=198.18.0.1 Port=6818 CPUs=8 State=UNKNOWN",
        "NodeName=n2 NodeHostname=n2 NodeAddr=198.18.0.2 Port=6818 CPUs=8 State=UNKNOWN",
    ]


def test_the_hosts_file_names_the_lab_first_and_keeps_what_was_there() -> None:
    assert slurm.hosts(LAB, "192.0.2.7 n1\n") == (
        "127.0.0.1 localhost\n198.18.0.254 ctl\n198.18.0.1 n1\n198.18.0.2 n2\n192.0.2.7 n1\n"
    )
