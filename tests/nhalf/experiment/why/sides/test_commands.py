"""Two commands: every difference is a switch, and mixtures are commands that a user could type."""

from __future__ import annotations

import shlex

import pytest

from nhalf.base.errors import InputError
from nhalf.experiment.why.sides.commands import CommandPair, pair, started, takes_the_same
from nhalf.mpi.launch_settings import with_new_noise
from nhalf.mpi.launch_words import parse_script


def two(a: str, b: str) -> CommandPair:
    """The pair of two command lines in an environment with nothing but Z."""
    return pair(*(started(parse_script(text, "x", {"Z": "0"}), []) for text in (a, b)))


def titles(commands: CommandPair) -> list[str]:
    return [switch.title for switch in commands.switches]


def mixed(commands: CommandPair, *names: str) -> tuple[list[str], dict[str, str]]:
    """Words and environment of a mixture, by the names of the switches that are as in B."""
    numbers = [n for n, switch in enumerate(commands.switches) if switch.name in names]
    assert len(numbers) == len(names)
    launch = commands.mixed(frozenset(numbers)).launch
    return launch.words, dict(launch.environment)


A = "export FI_PROVIDER=tcp X=1\nmpiexec.hydra -genv C 3 -n 2 -bind-to core ./p 1 2"
B = "D=4 mpiexec.hydra -np 2 -ppn 1 ./q 1 3"


def test_every_difference_is_one_switch() -> None:
    assert titles(two(A, B)) == [
        "C: 3 → –",
        "D: – → 4",
        "FI_PROVIDER: tcp → –",
        "X: 1 → –",
        "-bind-to: core → –",
        "-ppn: – → 1",
        "program: ./p → ./q",
        "argument 2: 2 → 3",
    ]


def test_a_mixture_of_nothing_is_a_and_of_everything_is_b() -> None:
    commands = two(A, B)
    words, environment = mixed(commands)
    assert words == ["mpiexec.hydra", "-n", "2", "-bind-to", "core", "./p", "1", "2"]
    assert environment == {"Z": "0", "C": "3", "FI_PROVIDER": "tcp", "X": "1"}
    words, environment = mixed(commands, *(switch.name for switch in commands.switches))
    assert words == ["mpiexec.hydra", "-n", "2", "-ppn", "1", "./q", "1", "3"]
    assert environment == {"Z": "0", "D": "4"}


def test_some_switches_as_in_b() -> None:
    words, environment = mixed(two(A, B), "C", "-ppn", "argument 2")
    assert words == [
        *("mpiexec.hydra", "-n", "2", "-bind-to", "core", "-ppn", "1", "./p", "1", "3")
    ]
    assert environment == {"Z": "0", "FI_PROVIDER": "tcp", "X": "1"}


def test_the_same_set_in_another_way_is_no_difference() -> None:
    a = "OMPI_MCA_btl=tcp,self mpirun.openmpi -n 2 ./p"
    b = "mpirun.openmpi --mca btl tcp,self --np 2 ./p"
    commands = two(a, b)
    assert titles(commands) == []
    assert mixed(commands)[1]["OMPI_MCA_btl"] == "tcp,self"


def test_launchers_of_two_families_are_one_switch() -> None:
    commands = two("X=1 mpiexec.hydra -n 2 ./p", "mpirun.openmpi -n 2 --bind-to core ./p.ompi 7")
    assert titles(commands) == [
        "X: 1 → –",
        "command: mpiexec.hydra -n 2 ./p → mpirun.openmpi -n 2 --bind-to core ./p.ompi 7",
    ]
    words, environment = mixed(commands, "command")
    assert words[:3] == ["mpirun.openmpi", "-x", "X"]
    assert words[3:] == ["-n", "2", "--bind-to", "core", "./p.ompi", "7"]
    assert environment["X"] == "1"


def test_folders_and_numbers_of_arguments() -> None:
    commands = two("cd /tmp\n./p 1", "cd /usr\n./p 1 2 3")
    assert titles(commands) == ["arguments: 1 → 1 2 3", "folder: /tmp → /usr"]
    assert str(commands.mixed(frozenset([1])).folder) == "/usr"


def test_what_stands_before_the_launcher() -> None:
    commands = two("mpiexec.hydra -n 2 ./p", "taskset -c 0 mpiexec.hydra -n 2 ./p")
    assert titles(commands) == ["before: – → taskset -c 0"]
    assert mixed(commands, "before")[0][:4] == ["taskset", "-c", "0", "mpiexec.hydra"]


def test_several_programs_are_refused() -> None:
    with pytest.raises(InputError, match="several programs"):
        two("mpiexec.hydra -n 1 ./a : -n 1 ./b", "./p")


@pytest.mark.parametrize(
    ("options", "is_exact"),
    [
        ("", True),
        ("--computing none", True),
        ("--computing=none", True),
        ("--computing measured:2", False),
        ("--noise 5%", False),
    ],
)
def test_launches_in_virtual_time_take_the_same_without_noise(options: str, is_exact: bool) -> None:
    a = "nhalf try --machine sp2-mpl --ranks 2 -- ./p"
    commands = two(a, f"nhalf try --machine sp2-mpl --ranks 2 {options} -- ./p")
    assert takes_the_same(commands) == is_exact
    assert not takes_the_same(two(a, "./p"))


def test_noise_is_new_in_every_launch() -> None:
    launch = two("nhalf try --noise 5% --seed 1 -- ./p", "./p").a.launch
    assert with_new_noise(launch, 7).words == shlex.split("nhalf try --seed 7 --noise 5% -- ./p")
    plain = two("nhalf try --ranks 2 -- ./p", "./p").a.launch
    assert with_new_noise(plain, 7) == plain
