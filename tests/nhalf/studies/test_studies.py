"""Published studies: on their own machines their conclusions come out as published."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.facts.facts import Facts
from nhalf.machines import catalogue as machines
from nhalf.measure.plan import catalogue as plans
from nhalf.present.study_words import interval_text
from nhalf.studies import catalogue
from nhalf.studies.form import Conclusion, Quantity
from nhalf.studies.judge import (
    FAILS,
    HOLDS,
    READ_BACK,
    UNTESTED,
    ConclusionJudgement,
    counts,
    is_inferred,
    judge,
    value_of,
)
from nhalf.studies.measured import Measured
from nhalf.studies.phases import PAIRS, at_phase, middle_phases, phase_numbers
from nhalf.studies.published.numbers import published
from nhalf.studies.recorded import RecordedMachine
from nhalf.studies.repeat import Repetition, repeat
from nhalf.studies.value import StudyValue
from tests.nhalf.synthetic import build_measurements

INSIDE = "the interval has the limit inside"
FORMULAS = "formulas, and no measured times"
NO_ARRAYS = "sci-torus has no pattern"
UNTESTED_AT_HOME = {
    ("models-within-8", "sp2-mpl"): FORMULAS,
    ("models-within-8", "sp1-mpl"): FORMULAS,
    ("models-within-8", "spp1000-pvm"): FORMULAS,
    **{
        (conclusion, "sp2-mpl"): "no times of kernels"
        for conclusion in (*("kernel-1-below-bound", "kernel-7-below-bound", "optimising-pays"),)
    },
    ("library-breaks", "pentiumpro-ethernet"): "after how many calls it breaks",
    ("calls-take-longer", "pentiumpro-ethernet"): "of single calls of a long series",
    ("grids-wait", "pentiumpro-ethernet"): "no time of MG",
    ("short-separate", "sci-torus"): "posting a message",
    ("off-node-better", "myrinet-gm"): "drawn, and not told",
    ("on-node-falls", "myrinet-gm"): "drawn, and not told",
    ("on-node-falls", "poweredge-6650"): "drawn, and not told",
    ("sizes-by-any-law", "sunfire-link"): "size_law does to traffic is not predicted",
    ("sizes-by-any-law", "myrinet-gm"): "size_law does to traffic is not predicted",
    ("ping-ping-half", "x1-ssp"): INSIDE,
    ("ping-ping-msp", "x1-msp"): INSIDE,
    ("dense-alltoall-falls", "altix-bx2"): INSIDE,
    ("dense-alltoall-falls", "opteron-myrinet"): "congestion of its switch",
    ("dense-pairwise-falls", "altix-bx2"): INSIDE,
    ("dense-pairwise-falls", "opteron-myrinet"): INSIDE,
    ("dense-alltoall-falls-x1", "x1-ssp"): INSIDE,
    ("dense-pairwise-falls-x1", "x1-ssp"): INSIDE,
    ("dense-cumulative", "altix-bx2"): "with fixed routes",
    ("dense-cumulative", "poweredge-ib"): INSIDE,
    ("dense-cumulative-none", "opteron-myrinet"): INSIDE,
    ("dense-cumulative-x1", "x1-ssp"): INSIDE,
    **{
        (conclusion.id, "sci-torus"): NO_ARRAYS
        for conclusion in catalogue.study("global-arrays").conclusion
        if conclusion.value.pattern.startswith(("array-", "sdes"))
    },
}
"""Conclusions that the study draws on a machine whose record cannot tell them, and why."""


@cache
def repeated(name: str, machine: str) -> Repetition:
    form = catalogue.study(name)
    return repeat(name, form, RecordedMachine(machine, form.machines))


def at_home() -> list[tuple[str, str]]:
    forms = {name: catalogue.study(name) for name in catalogue.names()}
    return [(name, m) for name, form in forms.items() for group in form.machines for m in group]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "machine"), at_home())
def test_at_home_every_conclusion_comes_out_as_published(name: str, machine: str) -> None:
    judgements = repeated(name, machine).conclusions
    own = [j for j in judgements if machine in j.conclusion.drawn_on]
    assert own or (name, machine) == ("multicast", "myrinet-gm")
    for judgement in own:
        reason = UNTESTED_AT_HOME.get((judgement.conclusion.id, machine))
        wanted = (HOLDS, READ_BACK) if reason is None else (UNTESTED,)
        assert judgement.verdict in wanted, judgement
        assert (reason or "") in judgement.reason
        if judgement.verdict in (HOLDS, READ_BACK):
            assert judgement.value is not None


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("name", "machine"), at_home())
def test_nothing_holds_at_home_by_the_published_number_itself(name: str, machine: str) -> None:
    for judgement in repeated(name, machine).conclusions:
        if judgement.verdict == HOLDS and machine in judgement.conclusion.drawn_on:
            assert judgement.value is not None
            assert judgement.value.origin in ("predicted", "simulated"), judgement.conclusion.id
            assert not is_inferred(judgement.conclusion, machine, judgement.value)


@pytest.mark.parametrize("name", catalogue.names())
def test_a_conclusion_of_a_document_names_what_is_said_and_where(name: str) -> None:
    form = catalogue.study(name)
    said = [conclusion for conclusion in form.conclusion if not conclusion.is_own]
    assert said
    for conclusion in said:
        assert re.match(r"(Table|Figures?|chs?\.|text on|slides|Oral and George)", conclusion.place)
        assert conclusion.statement.endswith(".")
        assert len(conclusion.statement.split()) <= 25, "what is said is told in few words of ours"


@pytest.mark.parametrize("name", catalogue.names())
def test_conclusions_are_drawn_on_machines_of_their_document_alone(name: str) -> None:
    form = catalogue.study(name)
    for conclusion in form.conclusion:
        for machine in conclusion.drawn_on:
            author = machines.machine(machine).source.split(",")[0]
            assert author.removesuffix(" et al.") in form.source, (conclusion.id, machine)


@pytest.mark.parametrize("name", catalogue.names())
@pytest.mark.sampled(3)
def test_no_ratio_is_of_one_number_or_of_one_prediction(name: str) -> None:
    form = catalogue.study(name)
    for machine in (machine for group in form.machines for machine in group):
        source = RecordedMachine(machine, form.machines)
        for conclusion in form.conclusion:
            value, over = conclusion.quantities
            assert value != over
            judgement = judge(conclusion, source, form.machines)
            if over is None or judgement.verdict == UNTESTED or machine not in conclusion.drawn_on:
                continue
            halves = [value_of(part, source, form.machines) for part in (value, over)]
            assert not halves[0].is_drawn_as(halves[1]), conclusion.id


def test_what_moves_alike_in_every_draw_is_not_compared() -> None:
    """All of either goes between nodes, so one prediction stands for both."""
    form = catalogue.study("sun-fire-2004")
    cube, complement = (
        Quantity(
            pattern="traffic",
            figure="rate",
            bytes="10K",
            ranks=32,
            placement="off-node",
            axes={"to": to},
            predicted=True,
        )
        for to in ("cube", "complement")
    )
    conclusion = Conclusion(id="alike", claim="It is.", value=cube, over=complement, limit=1)
    judgement = judge(conclusion, RecordedMachine("sunfire-link", form.machines), form.machines)
    assert (judgement.verdict, judgement.reason) == (
        UNTESTED,
        "one prediction stands for both numbers",
    )


def test_what_is_about_a_processor_says_nothing_of_another() -> None:
    form = catalogue.study("sp2-1995")
    (conclusion,) = (each for each in form.conclusion if each.id == "kernel-1-bound")
    elsewhere = judge(conclusion, RecordedMachine("sp1-mpl", form.machines), form.machines)
    assert (elsewhere.verdict, elsewhere.reason) == (
        UNTESTED,
        "it is about the processor of the SP2",
    )
    (own,) = (j for j in repeated("sp2-1995", "sp2-mpl").conclusions if j.conclusion == conclusion)
    assert own.value is not None
    assert (own.verdict, own.value.origin, own.limit) == (HOLDS, "predicted", 0.3)


def test_barriers_on_a_shared_wire_are_predicted_by_their_messages() -> None:
    """Messages of 1.2 ms: 9 log2 9, 9 x 8, 2 x 8, 9, and of MPICH 56; by hand."""
    answer = repeated("pentium-pro-barriers", "pentiumpro-ethernet")
    by_id = {j.conclusion.id: j for j in answer.conclusions}
    messages = {"exchange-last": 72 / (9 * math.log2(9)), "tournament-first": 9 / 16}
    messages |= {"tree-before-dissemination": 16 / (9 * math.log2(9)), "library-behind": 56 / 9}
    for name, ratio in messages.items():
        value = by_id[name].value
        assert value is not None
        assert value.median == pytest.approx(ratio), name
    one = by_id["dissemination-by-messages"]
    assert one.value is not None
    assert one.value.median == pytest.approx(9 * math.log2(9) * 1.2e-3)
    assert one.limit == pytest.approx(30e-3)  # published
    assert {j.value.origin for j in by_id.values() if j.value} == {"predicted"}


def test_a_published_barrier_made_of_messages() -> None:
    source = RecordedMachine("pentiumpro-ethernet")
    central = published(source, Quantity(pattern="barrier", algorithm="central", ranks=9))
    assert central is not None  # the study calls it n-way
    assert central.median == pytest.approx(22.32e-3)
    assert central.origin == "published"
    assert published(source, Quantity(pattern="barrier", algorithm="central", ranks=16)) is None


def test_verdicts_are_counted_by_who_draws_them_and_by_what_they_rest_on() -> None:
    judgements = repeated("sp2-1995", "sp2-mpl").conclusions
    rows = counts(judgements)
    assert sum(row["count"] for row in rows) == len(judgements)
    read = [row for row in rows if row["verdict"] == READ_BACK]
    assert [row["origin"] for row in read] == ["read back"] * 2
    assert [row["own"] for row in read] == [False, True]
    assert {"own": False, "verdict": HOLDS, "origin": "predicted", "count": 2} in rows


def test_all_conclusions_that_cannot_be_tested_at_home_exist() -> None:
    drawn = {
        (conclusion.id, machine)
        for name in catalogue.names()
        for conclusion in catalogue.study(name).conclusion
        for machine in conclusion.drawn_on
    }
    assert set(UNTESTED_AT_HOME) <= drawn


READ = {
    "altix-bx2": {"barrier-altix-poweredge", "barrier-altix-opteron", "ping-ping-half"},
    "x1-ssp": {
        *("ping-ping-half", "dense-cumulative-x1"),
        *("reduce-8-altix", "alltoall-altix"),
        *(f"reduce-1m-{name}" for name in ("altix", "poweredge", "opteron")),
    },
    "x1-msp": {"ping-ping-msp"},
    "opteron-myrinet": {"ping-ping-half", "dense-cumulative-none"},
    "poweredge-ib": {"ping-ping-half"},
    "sp2-mpl": set(),
}
"""By machine: the conclusions drawn on it that numbers of its record, or of the other one's, are
inferred from."""


def asked(judgement: ConclusionJudgement) -> StudyValue:
    """The number of a verdict before it was called read back."""
    assert judgement.value is not None
    origin = judgement.value.origin
    return replace(judgement.value, origin=origin.replace("read back", "predicted"))


@pytest.mark.parametrize("machine", sorted(READ))
def test_what_a_number_was_inferred_from_is_read_back(machine: str) -> None:
    study = "sp2-1995" if machine == "sp2-mpl" else "b-eff-2005"
    found = {
        judgement.conclusion.id
        for judgement in repeated(study, machine).conclusions
        if judgement.value and is_inferred(judgement.conclusion, machine, asked(judgement))
        if machine in judgement.conclusion.drawn_on
    }
    assert found == READ[machine]


def test_reductions_of_the_x1_have_the_interval_of_its_levels() -> None:
    """Of 8 B five levels, of 0.6 to 1.25 us; the Altix takes five messages of 1.25 us and 8 B."""
    judgements = {j.conclusion.id: j for j in repeated("b-eff-2005", "x1-ssp").conclusions}
    value = judgements["reduce-8-altix"].value
    assert value is not None
    assert value.ci is not None
    altix_s = 5 * (1.25e-6 + 8 / 1264e6)
    assert value.median == pytest.approx(altix_s / (5 * math.sqrt(0.6 * 1.25) * 1e-6), rel=0.01)
    assert altix_s / 6.25e-6 < value.ci[0] < value.median < value.ci[1] < altix_s / 3e-6


PVM_STARTS = {"pattern": "pingpong", "figure": "t0", "bytes": 16}


def judged(machine: str = "sp2-mpl", **parts: object) -> ConclusionJudgement:
    form = catalogue.study("sp2-1995")
    usual = {
        "id": "planted",
        "claim": "PVM starts later.",
        "value": {**PVM_STARTS, "transport": "pvm"},
        "over": {**PVM_STARTS, "transport": "mpi"},
        "drawn_on": ["sp2-mpl"],
    }
    conclusion = msgspec.convert({**usual, **parts}, Conclusion)
    return judge(conclusion, RecordedMachine(machine, form.machines), form.machines)


def test_a_wrong_conclusion_does_not_hold() -> None:
    right, wrong = judged(limit=2), judged(limit=2, relation="at most")
    assert (right.verdict, wrong.verdict) == (READ_BACK, FAILS)
    assert right.value is not None
    assert right.value.median == right.published == pytest.approx(104 / 47)  # Abandah, by hand
    assert judged(limit=5).verdict == FAILS
    assert judged(limit=1, relation="about", within_share=0.1).verdict == FAILS


def test_without_a_limit_it_is_the_published_number() -> None:
    judgement = judged()
    assert (judgement.verdict, judgement.limit) == (READ_BACK, judgement.published)


def test_reasons_not_to_test() -> None:
    reason = judged("spp1000-pvm", limit=2).reason
    assert reason == "no messages by mpi are published of spp1000-pvm"
    assert judged(limit=2, not_of={"sp2-mpl": "its cache"}).reason == "its cache"
    few = judged(limit=2, ranks_least=8)
    assert (few.verdict, few.reason) == (UNTESTED, "2 ranks are too few: it shows from 8")
    assert judged(drawn_on=[]).reason == "no number of it is published"


class Fixed:
    """A machine on which every number is the same."""

    name, needs_intervals = "fixed", True

    def __init__(self, *ci: float) -> None:
        self.number = StudyValue(1.0, (ci[0], ci[1]), origin="measured")

    def value(self, quantity: Quantity) -> StudyValue:
        return self.number


@pytest.mark.parametrize(
    ("ci", "limit", "verdict", "words"),
    [
        ((1e-9, 2), 4, FAILS, "below 2"),
        ((4.5, 1e9), 4, HOLDS, "above 4.5"),
        ((1e-9, 1e9), 4, UNTESTED, "unknown"),
        ((0.5, 2), 1, UNTESTED, "0.5 to 2"),
        ((4, 8), 4, HOLDS, "4 to 8"),
    ],
)
def test_the_end_of_an_interval_decides(
    ci: tuple[float, float], limit: float, verdict: str, words: str
) -> None:
    conclusion = Conclusion(id="a", claim="A.", value=Quantity(pattern="bcast"), limit=limit)
    conclusion = msgspec.structs.replace(conclusion, over=Quantity(pattern="barrier"))
    source = Fixed(*ci)
    judgement = judge(msgspec.structs.replace(conclusion, over=None), source, [])
    assert judgement.verdict == verdict
    assert interval_text(replace(judgement, conclusion=conclusion)) == words


def test_draws_are_divided_in_pairs_on_the_same_machine_only() -> None:
    quantity = Quantity(pattern="pingping", bytes="1M")
    source = RecordedMachine("x1-msp")
    alone = value_of(quantity, source, [])
    named = value_of(msgspec.structs.replace(quantity, machine="x1-msp"), source, [])
    assert alone.over(alone).ci == (1, 1)
    low, high = alone.over(named).ends
    assert low < 1 < high


def test_nothing_is_divided_by_what_may_be_0() -> None:
    for divisor in (
        StudyValue(0.0),
        StudyValue(1.0, (-0.5, 2.0)),
        StudyValue(math.inf),
        StudyValue(math.nan),
    ):
        with pytest.raises(InputError, match="may be 0"):
            StudyValue(1.0).over(divisor)
    assert StudyValue(6.0, (5.0, 8.0)).over(StudyValue(2.0, (1.0, 2.5))).ci == (2.0, 8.0)


def test_published_numbers() -> None:
    sp2 = RecordedMachine("sp2-mpl")
    barrier = published(sp2, Quantity(pattern="barrier", ranks=8))
    assert barrier is not None
    assert barrier.median == pytest.approx(3 * 84e-6)
    assert published(sp2, Quantity(pattern="barrier", ranks=64)) is None  # it has 32
    assert published(sp2, Quantity(pattern="reduce", ranks=8)) is None
    b_eff = published(RecordedMachine("x1-ssp"), Quantity(pattern="b_eff", figure="per-process"))
    assert b_eff == StudyValue(1858e6 / 8, ranks=8, origin="published")


class TestMeasured:
    def source(self, **parts: object) -> Measured:
        return Measured("run", Facts(build_measurements(**parts)))

    def test_a_number_has_the_interval_of_its_launches(self) -> None:
        quantity = Quantity(pattern="pingpong", bytes="1M", figure="rate")
        value = self.source().value(quantity)
        assert value.ci is not None
        assert value.ci[0] <= value.median <= value.ci[1]
        assert value.median == pytest.approx(5e9, rel=0.1)
        assert value.origin == "measured"

    def test_a_single_launch_decides_nothing(self) -> None:
        judgement = self.judged(self.source(launches=1))
        assert judgement.verdict == UNTESTED
        assert "several launches" in judgement.reason

    def test_its_conclusions_are_tested_with_intervals(self) -> None:
        assert self.judged(self.source()).verdict == HOLDS
        assert self.judged(self.source(), limit=1e9).verdict == FAILS

    def test_what_was_not_measured(self) -> None:
        source = self.source()
        for quantity in (
            Quantity(pattern="bcast", ranks=8),
            Quantity(pattern="pingpong", bytes=7),
            Quantity(pattern="pingpong", transport="pvm"),
            Quantity(pattern="b_eff", figure="b_eff"),
            Quantity(pattern="exchange", figure="t0"),
        ):
            with pytest.raises(InputError):
                source.value(quantity)

    def test_fewer_ranks_are_taken_but_not_compared_with_themselves(self) -> None:
        source = self.source(patterns=("barrier",), sizes=(0,), ranks=4)
        assert source.value(Quantity(pattern="barrier", ranks=64)).ranks == 4
        conclusion = Conclusion(
            id="grows",
            claim="It grows.",
            value=Quantity(pattern="barrier", ranks=32),
            over=Quantity(pattern="barrier", ranks=8),
            limit=1,
        )
        assert judge(conclusion, source, []).reason.startswith("only 4 ranks were measured")

    @pytest.mark.parametrize(("pattern", "time_s"), [("pingpong", 1e-6), ("bcast", 3e-6)])
    def test_of_several_places_and_conditions_it_takes_one(
        self, pattern: str, time_s: float
    ) -> None:
        usual: dict[str, Any] = {"patterns": (pattern,), "sizes": (8,), "launch_noise": 0.0}
        points = [
            {"placement": "same-node", "axes": "", "samples_s": [1e-6] * 3},
            {"placement": "same-node", "axes": "buffers=cold", "samples_s": [2e-6] * 3},
            {"placement": "4x16", "axes": "", "samples_s": [3e-6] * 3},
            {"placement": "4x16", "axes": "buffers=cold", "samples_s": [4e-6] * 3},
        ]
        for order in (points, points[::-1]):
            frames = [build_measurements(**usual, **point) for point in order]
            source = Measured("run", Facts(pl.concat(frames)))
            value = source.value(Quantity(pattern=pattern, bytes=8))
            assert value.median == pytest.approx(time_s)

    def test_a_time_that_does_not_grow_has_no_rate(self) -> None:
        source = self.source(samples_s=[1e-6] * 3)
        with pytest.raises(InputError, match="does not grow"):
            source.value(Quantity(pattern="pingpong", figure="r-inf", bytes=1024))

    def judged(self, source: Measured, limit: float = 4) -> ConclusionJudgement:
        conclusion = Conclusion(
            id="fast",
            claim="It is faster than the SP1.",
            value=Quantity(pattern="pingpong", bytes=1024, machine="sp1-mpl"),
            over=Quantity(pattern="pingpong", bytes=1024),
            limit=limit,
        )
        return judge(conclusion, source, [])


def test_the_pairs_of_phases() -> None:
    assert PAIRS["dense-alltoall"](4, 3) == [(0, 3), (1, 0), (2, 1), (3, 2)]
    assert PAIRS["dense-pairwise"](5, 2) == [(0, 2), (1, 3), (2, 0), (3, 1)]
    assert PAIRS["dense-cumulative"](4, 1) == [(0, 2), (2, 0)]
    assert phase_numbers("dense-cumulative", 7) == [1, 2, 3]
    assert phase_numbers("dense-alltoall", 2) == [1]


def test_the_middle_of_phases() -> None:
    values = {1: 8.0, 2: 4.0, 3: 2.0, 4: 1.0}
    assert middle_phases(values) == [4.0, 2.0]
    assert [at_phase(values, where) for where in ("first", "middle", "last")] == [8, 3, 1]
    with pytest.raises(InputError, match="too few ranks"):
        at_phase({1: 8.0}, "last")


@pytest.mark.parametrize("name", catalogue.names())
def test_what_it_measures_is_an_ordinary_study(name: str) -> None:
    plan = plans.study(str(catalogue.path_of(name)), cores=4)
    assert plan.blocks
    assert plan.budget_s <= 300  # with probes that are compiled before


MINE = """
title = "Is it?"
source = "by hand"
machines = [["sp2-mpl"]]
measure = {title = "Messages", block = [{patterns = ["pingpong"]}]}
"""
IS_IT = """
[[conclusion]]
id = "is-it"
claim = "It is."
value = {pattern = "pingpong"}
limit = 1
"""


def test_numbers_have_names_in_their_file_and_parts_are_files_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    (tmp_path / "more.toml").write_text(
        IS_IT.replace('{pattern = "pingpong"}', '"short"') + "[number]\n"
        'short = {pattern = "pingpong", bytes = 8}\n',
        "utf-8",
    )
    path.write_text('parts = ["more.toml"]\n' + MINE + IS_IT.replace("is-it", "first"), "utf-8")
    first, more = catalogue.study(str(path)).conclusion
    assert (first.id, first.value.bytes) == ("first", 0)
    assert (more.id, more.value.bytes) == ("is-it", 8)


@pytest.mark.parametrize(
    ("text", "words", "remedy"),
    [
        ("", "required field `title`", ""),
        (MINE, "mine.toml has no conclusion", "conclusion"),
        ("parts = 3\n" + MINE, "parts", "more.toml"),
        ('parts = ["nowhere.toml"]\n' + MINE, "nowhere.toml cannot be read", ""),
        (MINE + IS_IT.replace("pingpong", "pingpang"), "is-it: unknown pattern", "pingpong"),
        (MINE + IS_IT.replace('{pattern = "pingpong"}', '"short"'), "unknown pattern 'short'", ""),
        (MINE + IS_IT.replace('{pattern = "pingpong"}', '"pingpong 8 near"'), "unknown word 'near'",
         "on-node or off-node"),
        (MINE.replace("sp2-mpl", "sp2-mlp") + IS_IT, "machines: unknown machine", "sp2-mpl"),
        (MINE + IS_IT + 'drawn_on = ["sp3"]\n', "is-it: unknown machine of this study", "sp2-mpl"),
        (MINE + IS_IT + 'statement = "It is."\n', "takes its place", ""),
        (MINE + IS_IT + 'over = "pingpong"\n', "compared with itself", ""),
        (MINE + IS_IT.replace("{", '{transport = "tpc", '), "unknown transport 'tpc'", "tcp"),
        (MINE + IS_IT.replace("{", '{placement = "near", '), "near", ""),
        (MINE + IS_IT.replace("{", '{figure = "tim", '), "tim", ""),
        (MINE + IS_IT.replace("{", "{bytes = -1, "), "bytes must be at least 0", ""),
        (MINE + IS_IT.replace("{", '{bytes = "some", '), "is-it: ", ""),
        (MINE + IS_IT.replace("{", "{axes = {pairs = 1}, "), "unknown axis 'pairs'", ""),
        (MINE + IS_IT.replace('{pattern = "pingpong"}', "{}"), "either a pattern or a node", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_before_anything_is_measured(
    tmp_path: Path, text: str, words: str, remedy: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        catalogue.study(str(path))
    assert words in caught.value.message
    assert "\n" not in caught.value.message
    assert remedy in (caught.value.remedy or "")


def test_predictions_stand_behind_conclusions_where_a_model_exists() -> None:
    origins = {
        judgement.conclusion.id: judgement.value.origin
        for machine in ("sunfire-link", "myrinet-gm")
        for judgement in repeated("sun-fire-2004", machine).conclusions
        if judgement.value and machine in judgement.conclusion.drawn_on
    }
    predicted = sorted(name for name, origin in origins.items() if origin == "predicted")
    assert predicted == sorted(PREDICTED)


PREDICTED = ["logp-adds-up", "barrier-behind-messages"]
"""Conclusions of sun-fire-2004 that are not read back (docs/published-studies.md)."""


def test_files_that_are_no_study(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = catalogue.path_of("sp2-1995").read_text("utf-8")
    path.write_text(text.replace("barrier-cubic", "barrier-pvm"), "utf-8")
    with pytest.raises(InputError, match="id barrier-pvm stands 2 times"):
        catalogue.study(str(path))
    path.write_text(text.replace("relation =", "relatoin ="), "utf-8")
    with pytest.raises(InputError, match="relatoin"):
        catalogue.study(str(path))
    with pytest.raises(InputError, match="published study 'sp2-1994'") as caught:
        catalogue.study("sp2-1994")
    assert caught.value.remedy == "did you mean sp2-1995?"
