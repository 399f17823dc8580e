"""Names of MPI, of other suites and of the field are answered with those of nhalf."""

from __future__ import annotations

import pytest

from nhalf.base import plugins
from nhalf.base.errors import InputError, UnknownName
from nhalf.cli.foreign_names import BUFFERS, GPU, PATTERNS, VERBS, explained
from nhalf.cli.group import FORMER, PACKAGE, USUAL
from nhalf.measure.probe.subject import plain_subject

OURS = ("pingpong", "stream", "allreduce", "gather-persistent")


def remedy(kind: str, name: str) -> str:
    error = explained(UnknownName(kind, name, OURS, "known are ..."))
    assert isinstance(error, InputError)
    return error.remedy


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("pattern", "latency", "--pattern pingpong"),
        ("study", "latency", "--pattern pingpong"),
        ("pattern", "bw", "--pattern stream"),
        ("pattern", "all_reduce", "--pattern allreduce"),
        ("pattern", "MPI_Allreduce", "--pattern allreduce"),
        ("pattern", "MPI_Gather_init", "--pattern gather-persistent"),
        ("pattern", "osu_latency", "--style osu --pattern osu_latency"),
        ("study", "osu_bw", "--style osu --pattern osu_bw"),
        ("pattern", "PingPing", "--style imb --pattern PingPing"),
        ("transport", "infiniband", "use --transport ucx"),
        ("transport", "EFA", "use --transport ofi"),
        ("transport", "openmpi", "--mpi openmpi"),
        ("transport", "rccl", "nhalf import nccl.log"),
        ("pattern", "nccl", "use --transport nccl"),
        ("pattern", "osu_xccl_allreduce", "--style osu --pattern osu_xccl_allreduce"),
        ("study or pattern", "gpu", "--axis memory=device"),
        ("pattern", "nonsense", "known are ..."),
        ("verb", "plot", "try nhalf report"),
        ("verb", "collectives", "try nhalf run collectives"),
        ("verb", "Latency", "try nhalf run --pattern pingpong"),
        ("verb", "allreduce", "try nhalf run --pattern allreduce"),
        ("verb", "osu_latency", "try nhalf run --style osu --pattern osu_latency"),
        ("verb", "nonsense", "known are ..."),
        ("key", "device", "known are ..."),
        ("transport", "", "known are ..."),
    ],
)
def test_a_foreign_name_is_answered_with_ours(kind: str, name: str, words: str) -> None:
    assert words in remedy(kind, name)


def test_all_patterns_that_are_named_exist() -> None:
    assert set(PATTERNS.values()) <= set(plain_subject("threads").infos)


def test_commands_for_words_that_are_no_verbs_exist() -> None:
    verbs = plugins.names(PACKAGE)
    assert not set(VERBS) & {*verbs, *USUAL, *FORMER}
    for commands in VERBS.values():
        for command in commands.split(", "):
            assert command.split()[1] in verbs


def test_words_for_gpus_are_no_patterns() -> None:
    assert not {*GPU, *BUFFERS} & set(PATTERNS)
