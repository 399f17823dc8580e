"""A launch taken apart: every place that sets a variable, and the launch with it changed.

The number of ranks of a command, as each launcher is told it.
"""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.mpi.launch_settings import (
    LaunchCommand,
    parse_launch,
    ranks_in,
    with_options,
    with_variable,
    without_variable,
)

COMMANDS = {
    "hydra": "env B=2 mpiexec -genv C 3 -n 4 -env=x env D=4 ./program in -n 3",
    "openmpi": "mpirun --mca btl tcp,self -x FI_PROVIDER=tcp --bind-to none -n 2 ./program in",
    "srun": "srun --export=ALL,A=1 -n 2 --mpi pmix -- ./program in",
    "try": "python3 -m nhalf try --machine sp2-mpl --ranks=2 -- env A=1 ./program in",
    "": "timeout 9 mpiexec -n 1 ./program in : -n 2 ./b",
}


def launch(family: str, **environment: str) -> LaunchCommand:
    return parse_launch(COMMANDS[family].split(), environment, family)


@pytest.mark.parametrize("family", COMMANDS)
def test_a_command_is_put_together_as_it_was(family: str) -> None:
    taken_apart = launch(family)
    assert taken_apart.words == COMMANDS[family].split()
    assert (taken_apart.program, taken_apart.arguments[0]) == ("./program", "in")
    assert taken_apart.family == family
    assert taken_apart.is_several == (family == "")


@pytest.mark.parametrize("command", [["./program"], ["./p", "mpiexec"], ["env", "A=1", "./p"]])
def test_a_command_without_a_launcher_is_a_program(command: list[str]) -> None:
    alone = parse_launch(command, {})
    assert (alone.launcher, alone.options, alone.words) == ((), (), command)
    assert alone.program in ("./program", "./p")


def test_no_command_and_no_program() -> None:
    with pytest.raises(InputError, match="no command"):
        parse_launch([], {})
    for command in (["mpiexec"], ["mpiexec", "-n"], ["mpiexec", "--", "env"], ["env"]):
        assert parse_launch(command, {}).words == command


def test_what_comes_later_wins() -> None:
    command = "env A=2 B=2 C=2 mpiexec -genv B 3 -env C 3 -n 1 env C=4 ./program"
    start = {name: "1" for name in "ABCD"}
    assert parse_launch(command.split(), start, "hydra").variables == {
        **{"A": "2", "B": "3", "C": "4", "D": "1"}
    }


@pytest.mark.parametrize(
    ("family", "name", "words"),
    [
        ("hydra", "B", "mpiexec -genv C 3 -n 4 -env=x env D=4 ./program in -n 3"),
        ("hydra", "C", "env B=2 mpiexec -n 4 -env=x env D=4 ./program in -n 3"),
        ("hydra", "D", "env B=2 mpiexec -genv C 3 -n 4 -env=x ./program in -n 3"),
        ("openmpi", "OMPI_MCA_btl", "mpirun -x FI_PROVIDER=tcp --bind-to none -n 2 ./program in"),
        ("openmpi", "FI_PROVIDER", "mpirun --mca btl tcp,self --bind-to none -n 2 ./program in"),
        ("srun", "A", "srun --export=ALL -n 2 --mpi pmix -- ./program in"),
        ("try", "A", "python3 -m nhalf try --machine sp2-mpl --ranks=2 -- ./program in"),
        ("hydra", "E", COMMANDS["hydra"]),
    ],
)
def test_a_variable_is_taken_away_where_it_was_set(family: str, name: str, words: str) -> None:
    without = without_variable(launch(family, **{name: "0"}), name)
    assert " ".join(without.words) == words
    assert name not in without.environment
    assert name not in without.variables


@pytest.mark.parametrize("family", COMMANDS)
@pytest.mark.parametrize("name", ["A", "B", "C", "D", "OMPI_MCA_btl", "FI_PROVIDER", "LD_PRELOAD"])
def test_a_variable_that_is_set_is_what_ranks_get(family: str, name: str) -> None:
    changed = with_variable(launch(family, A="0"), name, "9")
    assert changed.variables[name] == "9"
    assert changed.program == "./program"


def test_variables_reach_ranks_where_launchers_pass_few() -> None:
    assert with_variable(launch("openmpi"), "UCX_TLS", "all").options[:2] == ("-x", "UCX_TLS")
    assert with_variable(launch("openmpi"), "OMPI_MCA_btl", "sm").options[0] == "-x"
    bare = parse_launch(["mpiexec", "-genvnone", "-n", "1", "./p"], {}, "hydra")
    assert with_variable(bare, "A", "1").options[:3] == ("-genv", "A", "1")
    few = parse_launch(["srun", "--export", "B=1", "-n", "1", "./p"], {}, "srun")
    assert with_variable(few, "A", "1").words == ["srun", "--export=B=1,A", "-n", "1", "./p"]


def test_a_library_to_preload_is_for_the_ranks_alone() -> None:
    loaded = with_variable(launch("hydra"), "LD_PRELOAD", "x.so")
    assert loaded.inside == ("env", "D=4", "LD_PRELOAD=x.so")
    assert "LD_PRELOAD" not in loaded.environment


def test_options_are_replaced() -> None:
    bound = with_options(launch("openmpi"), ("bind-to",), ("--bind-to", "core"))
    text = "mpirun --bind-to core --mca btl tcp,self -x FI_PROVIDER=tcp -n 2 ./program in"
    assert " ".join(bound.words) == text


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
