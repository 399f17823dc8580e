"""The search on a bench that makes its times up: what is measured, and what is written for it."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from nhalf.base.errors import BudgetSpentError, FailedError, InputError, MissingError, NhalfError
from nhalf.experiment.race import AlgorithmGain, TuningCell
from nhalf.experiment.tune.bench import LibraryBench
from nhalf.experiment.tune.outcome import bad_places, check, tune
from nhalf.experiment.tune.search import (
    TuningRequest,
    rules_for,
    screen_algorithms,
    search,
    slowest,
)
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.axes import parse_ranks
from nhalf.measure.plan.plan import Block, Plan, sizes_of, sizes_text
from nhalf.mpi import Library
from nhalf.mpi.decision_table import NATIVE, Rule, read_table, table_text
from nhalf.mpi.tuner import Tuner
from nhalf.present.terminal.tune import show_checked, show_tuned
from nhalf.sites.site import HERE

FOLDER = Path("/opt/x")
LIBRARY = Library("lib-1", "lib", "1", FOLDER, FOLDER, "hydra", True, None, "prefix")
FACTORS: dict[str, float] = {"tree": 0.5, "ring": 1.0, "slow": 20.0, "two": 0.1}


class Made(Tuner):
    """Algorithms whose factors are known; the file is a decision table."""

    what = "made up"
    forms = {"table": "made.table"}  # noqa: RUF012

    def algorithms(self, operation: str) -> list[str]:
        return list(FACTORS) if operation in ("bcast", "scan") else []

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        return algorithm != "two" or ranks == 2

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        return {f"FORCE_{name}": algorithm for name, algorithm in chosen.items()}

    def text(self, rules: Sequence[Rule]) -> str:
        return table_text(rules)

    def read(self, path: Path) -> list[Rule]:
        return read_table(path)

    def activate(self, path: Path) -> dict[str, str]:
        return {"FILE": str(path)}


class MadeBench(LibraryBench):
    """Times of 10 us per cell, times a factor that `gain` names for large messages."""

    applies = True
    worse_when_small = 1.0
    misread_bytes: Sequence[int] = ()
    noise = 0.02
    runs: list[str]
    factors: dict[str, float]

    def measure(
        self,
        name: str,
        blocks: Sequence[Block],
        variables: Mapping[str, Mapping[str, str]],
        budget_s: float,
        *,
        elsewhere: bool = False,
    ) -> pl.DataFrame:
        assert budget_s > 0
        assert elsewhere == (name == "look")
        self.runs.append(name)
        random = np.random.default_rng(len(self.runs))
        rows = [
            self._row(block, ranks, (size_bytes, setting, launch), variables.get(setting, {}))
            for block in blocks
            for ranks in block.ranks
            for size_bytes in sizes_of(block.bytes, ranks).size_bytes
            for setting in (block.settings if block.settings is not None else ["", *variables])
            for launch in range(block.launches)
        ]
        frame = pl.DataFrame(rows)
        noise = np.exp(random.normal(0, self.noise, len(frame)))
        return frame.with_columns(median_s=pl.col("median_s") * noise, lowest_s="median_s")

    def _row(
        self, block: Block, ranks: int, at: tuple[int, str, int], variables: Mapping[str, str]
    ) -> dict[str, Any]:
        size_bytes, setting, launch = at
        (operation,) = block.patterns
        algorithm = variables.get(f"FORCE_{operation}", NATIVE)
        if "FILE" in variables and self.applies:
            from nhalf.mpi.decision_table import choice

            rules = read_table(Path(variables["FILE"]))
            # As a library does that reads a part of its file otherwise than it is written.
            misread = size_bytes in self.misread_bytes and ranks == max(ASKED.ranks)
            algorithm = NATIVE if misread else choice(rules, operation, ranks, size_bytes)
        factor = self.factors.get(algorithm, 1.0) if size_bytes >= 1024 else 1.0
        if algorithm == "slow":
            factor = FACTORS["slow"] * (1 if size_bytes >= 1024 else self.worse_when_small)
        mpi = f"lib-1+{setting}" if setting else "lib-1"
        same = {"run": "r", "transport": "mpi", "algorithm": "native", "placement": "", "axes": ""}
        point = {"pattern": operation, "ranks": ranks, "bytes": size_bytes, "mpi": mpi}
        return {**same, **point, "launch": launch, "samples": 5, "median_s": 1e-5 * factor}


@pytest.fixture
def bench(tmp_path: Path) -> MadeBench:
    plan = Plan(["mpi"], ["lib-1"], [], 3, 60.0, 0.02, "", 1, 10.0)
    made = MadeBench(LIBRARY, Made(LIBRARY), tmp_path, plan, HERE, lambda: Progress(True), "cores")
    made.runs = []
    made.factors = dict(FACTORS)
    return made


ASKED = TuningRequest(("bcast",), (2, 4), "8,128,2K,32K", 0.05, 60.0)


def test_what_wins_is_written_and_proven(bench: MadeBench) -> None:
    tuned = tune(bench, ASKED)
    assert tuned.rules == [
        Rule("bcast", 2, 2, 2048, math.inf, "two"), Rule("bcast", 4, 4, 2048, math.inf, "tree"),
    ]  # fmt: skip
    assert tuned.path is not None
    assert read_table(tuned.path) == tuned.rules
    assert tuned.variables == {"FILE": str(tuned.path)}
    assert tuned.activity is not None
    assert (tuned.activity.verdict, tuned.activity.algorithm) == ("active", "slow")
    assert tuned.refuted == []
    faster = [size.size_bytes for curve in tuned.curves for size in curve.sizes
              if size.verdict == "faster"]  # fmt: skip
    assert faster == [2048, 32768] * 2
    written = {(c["ranks"], c["size_bytes"]): c["algorithm"] for c in tuned.as_json()["cells"]}
    assert written[4, 2048] == "tree"
    assert written[4, 8] == NATIVE


def test_who_is_far_behind_does_not_race(bench: MadeBench) -> None:
    found = search(bench, ASKED)
    assert "slow" in found.screening[TuningCell("bcast", 2, 2048)]
    assert not any("slow" in algorithms for algorithms in found.race.values())
    assert "two" not in found.screening[TuningCell("bcast", 4, 2048)]
    assert bench.runs[0] == "look"
    assert found.undecided == []


def test_nothing_wins_and_nothing_is_written(bench: MadeBench, tmp_path: Path) -> None:
    bench.factors = {"tree": 0.99, "ring": 1.0, "two": 1.01}
    tuned = tune(bench, ASKED)
    assert (tuned.rules, tuned.path, tuned.activity) == ([], None, None)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_heeded_is_not_left_there(bench: MadeBench) -> None:
    bench.applies = False
    with pytest.raises(FailedError, match="does not apply the file"):
        tune(bench, ASKED)
    assert not (bench.folder / "made.table").exists()


def test_a_rule_without_effect_is_taken_out_and_the_rest_compared_again(
    bench: MadeBench,
) -> None:
    bench.misread_bytes = [32768]
    tuned = tune(bench, ASKED)
    assert tuned.unapplied == [TuningCell("bcast", 4, 32768)]
    assert tuned.refuted == []
    assert tuned.rules == [
        Rule("bcast", 2, 2, 2048, math.inf, "two"), Rule("bcast", 4, 4, 2048, 32767, "tree"),
    ]  # fmt: skip
    assert tuned.path is not None
    assert read_table(tuned.path) == tuned.rules
    assert bench.runs[-2:] == ["trial", "trial-2"]
    taken_out = tuned.as_json()["taken_out"]
    assert taken_out == [{**TuningCell("bcast", 4, 32768)._asdict(), "why": "no effect"}]
    told = Console(record=True, width=160, file=io.StringIO())
    show_tuned(told, bench, tuned)
    assert "bcast of 32 KiB on 4 ranks has no effect in the file" in told.export_text()


def test_a_file_of_rules_without_effect_is_not_left_there(bench: MadeBench) -> None:
    bench.misread_bytes = [32768]
    bench.worse_when_small = 2.0  # so that the proof is made at 512 B
    tuned = tune(bench, TuningRequest(("bcast",), (4,), "512,32K", 0.05, 60.0))
    assert (tuned.rules, tuned.path) == ([], None)
    assert tuned.unapplied == [TuningCell("bcast", 4, 32768)]
    assert not (bench.folder / "made.table").exists()


def test_winners_that_a_file_cannot_hold_are_counted(bench: MadeBench) -> None:
    class OfMostRanks(Made):
        def expressible(self, rules: Sequence[Rule]) -> list[Rule]:
            return [rule for rule in rules if rule.from_ranks == max(ASKED.ranks)]

    bench.tuner = OfMostRanks(LIBRARY)
    tuned = tune(bench, ASKED)
    assert {rule.from_ranks for rule in tuned.rules} == {4}
    assert bench.notes == ["the file cannot hold all winners: 2 of 4 cells have no rule"]


def test_what_is_as_fast_stands_in_where_rules_replace_the_own_choice(bench: MadeBench) -> None:
    class Replacing(Made):
        """Without a rule, an operation that has others is performed slowly."""

        keeps_own = False

        def text(self, rules: Sequence[Rule]) -> str:
            operations = {rule.operation for rule in rules}
            rest = [Rule(name, 0, math.inf, 0, math.inf, "slow") for name in operations]
            return table_text([*rules, *rest])

    bench.tuner = Replacing(LIBRARY)
    bench.factors = {"tree": 0.5, "ring": 1.0, "slow": 20.0, "two": 2.0}
    tuned = tune(bench, TuningRequest(("bcast",), (4,), "8,2K", 0.05, 60.0))
    # Below 1 KiB all but the slow one are equal, so that the winner stands in for the own choice.
    assert tuned.rules == [Rule("bcast", 4, 4, 8, math.inf, "tree")]
    assert tuned.refuted == []
    bench.tuner = Made(LIBRARY)
    bench.folder.joinpath("made.table").unlink()
    tuned = tune(bench, TuningRequest(("bcast",), (4,), "8,2K", 0.05, 60.0))
    assert tuned.rules == [Rule("bcast", 4, 4, 2048, math.inf, "tree")]


class TestTold:
    """What a person reads at the end."""

    @pytest.fixture
    def told(self) -> Console:
        return Console(record=True, width=160, file=io.StringIO())

    def test_winners_proof_and_use(self, bench: MadeBench, told: Console) -> None:
        show_tuned(told, bench, tune(bench, ASKED))
        text = told.export_text()
        for said in ("two", "90 %", "tree", "50 %", "faster", "lib-1: active.", "export FILE="):
            assert said in text, said
        assert f"file  {bench.folder / 'made.table'}" in text

    def test_nothing_won(self, bench: MadeBench, told: Console) -> None:
        bench.factors = {}
        show_tuned(told, bench, tune(bench, ASKED))
        text = told.export_text()
        assert (
            "no algorithm is significantly and sufficiently faster than its own choice, in 8 cells"
            in text
        )
        assert "export" not in text

    def test_a_checked_file(self, bench: MadeBench, told: Console, tmp_path: Path) -> None:
        path = tmp_path / "mine.table"
        path.write_text(table_text([Rule("bcast", 2, 8, 2048, math.inf, "tree")]))
        bench.applies = False
        show_checked(told, bench, check(bench, path, ASKED))
        text = told.export_text()
        assert "bcast 2 8 2048 inf tree" in text
        assert "lib-1: not active." in text


class TestCheck:
    """A file that somebody brings."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "mine.table"
        path.write_text(table_text([Rule("bcast", 2, 8, 2048, math.inf, "tree")]))
        return path

    def test_active(self, bench: MadeBench, path: Path) -> None:
        checked = check(bench, path, ASKED)
        assert checked.activity.verdict == "active"
        assert checked.activity.cell.size_bytes >= 2048  # where the file has a rule

    def test_not_heeded(self, bench: MadeBench, path: Path) -> None:
        bench.applies = False
        assert check(bench, path, ASKED).activity.verdict == "not active"

    def test_rules_for_something_else(self, bench: MadeBench, path: Path) -> None:
        asked = TuningRequest(("scan",), (2,), "8", 0.05, 60.0)
        with pytest.raises(InputError, match="has rules for bcast only"):
            check(bench, path, asked)


def test_an_operation_without_a_choice(bench: MadeBench) -> None:
    with pytest.raises(InputError, match="offers no choice of algorithm for 'gather'"):
        tune(bench, TuningRequest(("gather",), (2,), "8", 0.05, 60.0))
    with pytest.raises(MissingError, match="offers no choice"):
        screen_algorithms(bench, TuningRequest(("gather",), (2,), "8", 0.05, 60.0))


def test_the_slowest_and_the_bad() -> None:
    look = {TuningCell("bcast", 2, 8): {NATIVE: {("l", 0): 1.0}, "a": {("l", 0): 3.0}},
            TuningCell("bcast", 2, 64): {NATIVE: {("l", 0): 1.0}, "a": {("l", 0): 1.1}},
            TuningCell("bcast", 4, 8): {"a": {("l", 0): 1.0}}}  # fmt: skip
    assert [(cell.size_bytes, name) for cell, name, _ in slowest(look)] == [(8, "a"), (64, "a")]


def test_rules_leave_out_ranks_with_which_an_algorithm_does_not_work() -> None:
    cells = [TuningCell("bcast", 2, 8), TuningCell("bcast", 6, 8)]
    won = {cell: [AlgorithmGain(cell, "even", 5, 0.5, 0.4, 0.6, 0.0)] for cell in cells}

    class Even(Made):
        def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
            return ranks % 2 == 0

    assert [(rule.from_ranks, rule.to_ranks) for rule in rules_for(Even(LIBRARY), won, cells)] == [
        (2, 2), (4, 4), (6, 6),
    ]  # fmt: skip
    assert len(rules_for(Made(LIBRARY), won, cells)) == 1


def test_sizes_and_ranks_are_as_blocks_have_them() -> None:
    assert sizes_text([64, 8, 8]) == "8,64"
    assert parse_ranks("2,4", 2) == [2, 4]


def test_a_bad_place_is_one_that_was_seen_to_be_bad(bench: MadeBench) -> None:
    look = screen_algorithms(bench, ASKED)
    assert {name for _, name in bad_places(bench, look)} == {"slow"}


def test_what_is_another_one_at_a_size_does_not_race_there(bench: MadeBench) -> None:
    class Parts(Made):
        def differs(self, operation: str, algorithm: str, size_bytes: int) -> bool:
            return algorithm != "tree" or size_bytes > 8

    everything = screen_algorithms(bench, ASKED)
    bench.tuner = Parts(LIBRARY)
    look = screen_algorithms(bench, ASKED)
    assert set(look) == set(everything)
    for cell, times in look.items():
        expected = set(everything[cell]) - ({"tree"} if cell.size_bytes <= 8 else set())
        assert set(times) == expected


def test_what_is_another_one_at_no_size_is_not_even_launched(
    bench: MadeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Alike(Made):
        def differs(self, operation: str, algorithm: str, size_bytes: int) -> bool:
            return algorithm != "tree"

    launched: list[int] = []
    measure = MadeBench.measure

    def counted(self: MadeBench, name: str, blocks: Sequence[Block], *more: Any, **how: Any) -> Any:
        launched.extend(len(block.settings or ()) for block in blocks)
        return measure(self, name, blocks, *more, **how)

    monkeypatch.setattr(MadeBench, "measure", counted)
    screen_algorithms(bench, ASKED)
    bench.tuner = Alike(LIBRARY)
    screen_algorithms(bench, ASKED)
    everything, fewer = launched[: len(launched) // 2], launched[len(launched) // 2 :]
    assert fewer == [number - 1 for number in everything]


@pytest.mark.parametrize(
    "error", [BudgetSpentError(2.5), MissingError("nothing could be measured", "run nhalf doctor")]
)
def test_a_round_without_time_for_a_point_ends_the_race(
    bench: MadeBench, error: NhalfError
) -> None:
    measure = bench.measure
    ended: list[str] = []

    def until_round(last: int) -> Callable[..., pl.DataFrame]:
        def measured(name: str, *arguments: Any, **options: Any) -> pl.DataFrame:
            if name == f"race-{last + 1}":
                ended.append(name)
                raise error
            return measure(name, *arguments, **options)

        return measured

    bench.noise = 0.5  # so that one round decides little
    bench.measure = until_round(1)  # type: ignore[method-assign]
    assert search(bench, ASKED).race
    assert ended == ["race-2"]
    bench.measure = until_round(0)  # type: ignore[method-assign]
    with pytest.raises(type(error)):
        search(bench, ASKED)
