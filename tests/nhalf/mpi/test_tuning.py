"""nhalf's own table as a tuning file: only names of the registry, and ways on one node."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from nhalf.base.errors import FailedError, InputError
from nhalf.mpi import Library
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.tuning import HIERARCHICAL, SHARED_MEMORY, SINGLE_COPY, STREAMING, tuner_for
from tests.probes import is_built

HERE = Path("/opt/x")
LIBRARY = Library("mpich-5", "mpich", "5", HERE, HERE / "bin/mpiexec", "hydra", True, None, "x")


pytestmark = pytest.mark.skipif(not is_built("probe-model"), reason="the probes are not built")


def test_the_registry_and_the_ways_on_one_node() -> None:
    names = tuner_for(LIBRARY, to="nhalf").algorithms("bcast")
    assert "binomial" in names
    assert names[-4:] == [SHARED_MEMORY, SINGLE_COPY, STREAMING, HIERARCHICAL]
    assert tuner_for(LIBRARY, to="nhalf").algorithms("barrier")[-2:] == [
        *(SHARED_MEMORY, HIERARCHICAL)
    ]
    assert tuner_for(LIBRARY, to="nhalf").algorithms("alltoall")[-1] == STREAMING
    assert tuner_for(LIBRARY, to="nhalf").algorithms("alltoallw") == []


def test_the_file_comes_back(tmp_path: Path) -> None:
    tuner = tuner_for(LIBRARY, to="nhalf")
    rules = [
        Rule("bcast", 2, 8, 0, 4096, HIERARCHICAL),
        Rule("bcast", 2, 8, 4097, math.inf, "binomial"),
        Rule("alltoall", 2, 8, 16384, math.inf, SINGLE_COPY),
        Rule("barrier", 2, 2, 0, 0, "native"),
    ]
    path = tmp_path / tuner.file_name
    path.write_text(tuner.text(rules))
    assert tuner.read(path) == rules


def test_sizes_of_parts_are_algorithms_of_their_own_and_a_column_of_the_table(
    tmp_path: Path,
) -> None:
    tuner = tuner_for(LIBRARY, to="nhalf")
    names = tuner.algorithms("bcast")
    assert [name for name in names if name.startswith("chain")] == [
        *("chain", "chain:32768", "chain:131072", "chain:524288")
    ]
    assert not any(name.startswith("binomial:") for name in names), "it does not cut messages"
    rules = [Rule("bcast", 2, 8, 65536, math.inf, "chain:32768")]
    path = tmp_path / tuner.file_name
    path.write_text(tuner.text(rules))
    assert path.read_text().splitlines()[-1] == "bcast 2 8 65536 inf chain 32768"
    assert tuner.read(path) == rules
    path.write_text("# nhalf decision table 2\nbcast 2 8 0 inf chain 4096\n")
    assert tuner.read(path)[0].algorithm == "chain:4096", "as nhalf predict --out may say"
    path.write_text("# nhalf decision table 2\nbcast 2 8 0 inf chain 8192\n")
    assert tuner.read(path) == [Rule("bcast", 2, 8, 0, math.inf, "chain")]


@pytest.mark.parametrize(
    ("algorithm", "size", "differs"),
    [
        ("chain", 1, True),
        ("binomial", 1, True),
        ("chain:32768", 8192, False),
        ("chain:32768", 8193, True),
        ("chain:131072", 32768, False),
        ("chain:131072", 65536, True),
        (SHARED_MEMORY, 1, True),
        (SINGLE_COPY, 16383, False),
        (SINGLE_COPY, 16384, True),
        (STREAMING, 65536, True),
        (STREAMING, 4096, False),
        (HIERARCHICAL, 0, True),
        (HIERARCHICAL, 4097, False),
    ],
)
def test_what_is_cut_as_by_the_size_before_or_cannot_gain_is_not_tried(
    algorithm: str, size: int, differs: bool
) -> None:
    assert tuner_for(LIBRARY, to="nhalf").differs("bcast", algorithm, size) is differs


def test_two_ranks_go_no_way_that_is_shared_memory_for_them() -> None:
    tuner = tuner_for(LIBRARY, to="nhalf")
    for operation in ("bcast", "allreduce"):
        assert [tuner.suits(operation, HIERARCHICAL, ranks) for ranks in (2, 3)] == [False, True]
        assert tuner.suits(operation, SHARED_MEMORY, 2)
        assert tuner.suits(operation, SINGLE_COPY, 2)
    assert [tuner.suits("allreduce", STREAMING, ranks) for ranks in (2, 3)] == [False, True]
    assert tuner.suits("bcast", STREAMING, 2)


def test_a_rule_ends_with_the_sizes_for_which_its_way_is() -> None:
    rules = [
        Rule("bcast", 2, 8, 512, math.inf, HIERARCHICAL),
        Rule("bcast", 2, 8, 64, 511, HIERARCHICAL),
        Rule("bcast", 2, 8, 65536, math.inf, SINGLE_COPY),
        Rule("bcast", 2, 8, 0, math.inf, "binomial"),
    ]
    written = tuner_for(LIBRARY, to="nhalf").expressible(rules)
    assert written == [Rule("bcast", 2, 8, 512, 4096, HIERARCHICAL), *rules[1:]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# nhalf decision table 1\nbcast 2 8 0 inf binomail\n", "no algorithm 'binomail'"),
        ("# nhalf decision table 1\nbcast 2 8 0\n", "line 2"),
        ("# nhalf decision table 2\nbcast 2 8 0 inf binomial 64\n", "does not cut messages"),
        ("# nhalf decision table 2\nbcast 2 8 0 inf native 64\n", "does not cut messages"),
        ("bcast 2 8 0 inf binomial\n", "no decision table"),
        ("", "no decision table"),
    ],
)
def test_mistakes_are_said(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "x.table"
    path.write_text(text)
    with pytest.raises(FailedError, match=said):
        tuner_for(LIBRARY, to="nhalf").read(path)


@pytest.mark.parametrize("to", ["openmpi", "7", "table"])
def test_another_librarys_file_is_not_written(to: str) -> None:
    with pytest.raises(InputError, match="unknown form of"):
        tuner_for(LIBRARY, to=to)
