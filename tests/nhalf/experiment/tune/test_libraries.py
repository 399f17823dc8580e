"""On a real Open MPI: a file is applied, and under the wrong variables it is said not to be."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nhalf.base.errors import FailedError, NhalfError
from nhalf.experiment.tune.bench import LibraryBench
from nhalf.experiment.tune.outcome import check
from nhalf.experiment.tune.search import TuningRequest, search
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.plan import Plan
from nhalf.mpi.coll_tuned import PREFIX, CollTuned
from nhalf.mpi.discover import libraries, newest
from nhalf.mpi.tuning import tuner_for
from nhalf.sites.site import HERE
from tests.nhalf.mpi.hasty import hasty
from tests.patience import patience_s

FOUND = [library for library in newest(libraries()) if library.vendor == "openmpi"]
RULES = """\
1 # collective
7 # bcast
2 # communicator sizes
0 1
0 0 0 0
2 2
0 0 0 0
32768 1 0 0 # linear
"""
LOADED = "unclear"
"""What a machine that does too many other things may answer, but never the contrary."""

QUIET_BUDGET_S = 6.0
SEARCH_BUDGET_S = 10.0

pytestmark = [
    pytest.mark.skipif(not FOUND, reason="no Open MPI here: nhalf mpi install openmpi"),
    pytest.mark.slow,
]


def asked() -> TuningRequest:
    return TuningRequest(("bcast",), (2,), "512K", 0.05, patience_s(QUIET_BUDGET_S))


class Forgetful(CollTuned):
    """Does not tell the library to apply rules at all."""

    def activate(self, path: Path) -> dict[str, str]:
        found = super().activate(path)
        del found[f"{PREFIX}_use_dynamic_rules"]
        return found


class TwoAlgorithms(CollTuned):
    """Knows no more than the test needs."""

    def algorithms(self, operation: str) -> list[str]:
        return ["recursive_doubling", "ring"]


@pytest.fixture
def bench(tmp_path: Path) -> LibraryBench:
    library = FOUND[0]
    try:
        tuner = tuner_for(library)
        assert "binomial" in tuner.algorithms("bcast")
    except NhalfError as error:
        pytest.skip(str(error))
    limit_s = patience_s(QUIET_BUDGET_S)
    plan = Plan(["mpi"], [library.name], [], 3, limit_s, 0.05, "", 1, limit_s)
    return LibraryBench(library, tuner, tmp_path, plan, HERE, lambda: Progress(True), "cores")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "mine.rules"
    path.write_text(RULES)
    return path


@pytest.mark.full
def test_a_file_is_honoured(bench: LibraryBench, path: Path) -> None:
    found = check(bench, path, asked())
    assert found.activity.verdict in ("active", LOADED), found.activity
    assert found.rules[0].algorithm == "basic_linear"


@pytest.mark.full
def test_under_the_wrong_variable_it_is_not(bench: LibraryBench, path: Path) -> None:
    bench = dataclasses.replace(bench, tuner=Forgetful(bench.library))
    assert check(bench, path, asked()).activity.verdict in ("not active", LOADED)


def test_a_file_that_is_no_good_is_not_even_tried(bench: LibraryBench, path: Path) -> None:
    path.write_text(RULES.replace("0 0 0 0\n2", "8 0 0 0\n2"))
    with pytest.raises(FailedError, match="line 5: the first message size is 8, not 0"):
        check(bench, path, asked())


def test_an_algorithm_that_delivers_wrong_data_is_not_chosen(
    bench: LibraryBench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = dataclasses.replace(bench, tuner=TwoAlgorithms(bench.library))
    variables = bench.tuner.force({"allreduce": "ring"})
    # By this setting the library copies its own data where it should reduce, which is faster.
    name = next(name for name in variables if name.endswith("allreduce_algorithm"))
    monkeypatch.setenv("HASTY_UNDER", f"{name}={variables[name]}")
    monkeypatch.setenv("LD_PRELOAD", str(hasty(bench.library, tmp_path)))
    budget_s = patience_s(SEARCH_BUDGET_S)
    result = search(bench, TuningRequest(("allreduce",), (2,), "64K", 0.05, budget_s))
    assert bench.refused == {("allreduce", "ring")}
    assert all("ring" not in times for times in (*result.screening.values(), *result.race.values()))
    assert "ring" not in {gain.algorithm for gains in result.won.values() for gain in gains}
    assert {curve.operation for curve in bench.wrong} == {"allreduce"}
