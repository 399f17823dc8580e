"""Rings and permutations that are predicted are those that the probes measure."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nhalf.base import native_files
from nhalf.base.processes import run
from nhalf.decide.b_eff import messages, patterns
from nhalf.decide.permutations import RULES
from tests.patience import patience_s

SOURCE = Path(__file__).parents[2] / "native/patterns/bases/traffic/layouts.cpp"
REGULAR = 6


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    program = str(tmp_path_factory.mktemp("layouts") / "layouts")
    include = f"-I{native_files.include_folder()}"
    command = [compiler, "-std=c++20", "-O0", include, str(SOURCE), "-o", program]
    compiled = run(command, patience_s(60))
    assert compiled.succeeded, compiled.stderr
    return [line.split() for line in run([program], patience_s(60)).stdout.splitlines()]


def test_rings_of_the_effective_bandwidth(lines: list[list[str]]) -> None:
    measured = {
        (int(ranks), int(number)): ([list(map(int, ring.split(","))) for ring in rings], int(count))
        for ranks, number, *rings, _, count in (words[1:] for words in lines if words[0] == "ring")
    }
    predicted = {
        (ranks, number): (rings, len(messages(rings)))
        for ranks in {ranks for ranks, _ in measured}
        for number, (_, rings) in zip(range(1, 1 + REGULAR), patterns(ranks), strict=False)
    }
    assert len(measured) == 39 * REGULAR
    assert predicted == measured


def test_permutations_of_ranks(lines: list[list[str]]) -> None:
    measured = {
        (words[1], int(words[2])): list(map(int, words[3].split(",")))
        for words in lines
        if words[0] == "rule"
    }
    predicted = {
        (rule, bits): [RULES[rule](rank, bits) for rank in range(1 << bits)]
        for rule, bits in measured
    }
    assert {rule for rule, _ in measured} == set(RULES)
    assert predicted == measured
