"""Records that are right give no alarm, and each planted mistake one that names it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from nhalf.base.errors import MissingError
from nhalf.decide.engine_names import ENGINES, LIBRARY, MODEL
from nhalf.machines import catalogue
from nhalf.machines.machine import Machine, PublishedPoint
from nhalf.machines.message import Messages
from nhalf.measure.plan.plan import Block
from nhalf.studies.engines import answers
from nhalf.studies.engines.answers import Cell, Times
from nhalf.studies.published import prover
from nhalf.studies.published.figures import BOTH_WAYS, COLLECTIVES, READ_BACK, Figure, figures
from nhalf.studies.published.limits import beyond_limits
from nhalf.studies.published.prover import TOLERANCES, JudgedFigure, known_misses, prove
from tests.nhalf.measure.virtual.programs import library_of
from tests.nhalf.studies.published.planted import MISTAKES, Mistake

ROOT = Path(__file__).resolve().parents[4]
STUDIED = catalogue.of_studies()


@cache
def of_record(name: str) -> prover.Trial:
    """The trial of a machine of record by the model."""
    return prove(catalogue.machine(name))


@pytest.mark.parametrize("name", STUDIED)
def test_records_that_are_right_give_no_alarm(name: str) -> None:
    trial = of_record(name)
    assert trial.alarms == ()
    assert len(trial.rows) == len(figures(catalogue.machine(name)))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.words.replace(" ", "-"))
@pytest.mark.sampled(12)
def test_a_planted_mistake_is_named(mistake: Mistake) -> None:
    trial = prove(mistake.change(catalogue.machine(mistake.machine)))
    found = {(alarm.figure, alarm.engine): alarm.ratio for alarm in trial.alarms}
    assert (mistake.figure, mistake.engine) in found
    ratio = found[mistake.figure, mistake.engine]
    # A whole MiB is 4.9 % more than a million bytes.
    assert not 1 / 1.04 < ratio < 1.04


def test_a_machine_without_figures_has_none_to_judge() -> None:
    trial = prove(Machine(name="nothing"))
    assert (trial.rows, trial.alarms, trial.agreement.cells) == ((), (), ())


def test_a_figure_of_nothing_is_named_and_not_divided_by() -> None:
    machine = catalogue.machine("gige-pair")
    point = PublishedPoint(pattern="latency", time_s=0.0, placement="other-node")
    (alarm,) = prove(replace(machine, points=(point,))).alarms
    assert (alarm.figure, alarm.engine, alarm.ratio) == ("latency, other-node", "limits", -math.inf)


@pytest.mark.parametrize(
    ("what", "value", "is_alarm"),
    [("", 0.5, True), ("", 2.0, True), ("at least", 2.0, False), ("at most", 0.5, False),
     ("at least", 0.5, True), ("above this", 0.5, True), ("below this", 2.0, True)],
)  # fmt: skip
def test_a_bound_is_missed_on_one_side(what: str, value: float, is_alarm: bool) -> None:
    figure = Figure(PublishedPoint(pattern="ping-ping", ratio=1.0, what=what), "ratio")
    row = JudgedFigure(figure, {MODEL: prover.Answer(value, value)})
    assert figure.kind == BOTH_WAYS
    assert bool(row.alarms()) is is_alarm


@pytest.mark.parametrize(
    ("pattern", "axes", "is_alarm"),
    [("ping-ping", "", False), ("barrier", "", True), ("barrier", "algorithm=central", False)],
)
def test_a_figure_is_in_doubt_where_all_who_count_doubt_it(
    pattern: str, axes: str, is_alarm: bool
) -> None:
    """A library's own choice of today does not save a barrier."""
    figure = Figure(PublishedPoint(pattern=pattern, axes=axes, time_s=1.0), "time_s")
    judges = {MODEL: prover.Answer(9.0, 9.0), LIBRARY: prover.Answer(1.0, 1.0)}
    assert bool(JudgedFigure(figure, judges).alarms()) is is_alarm


def test_engines_that_run_programs_are_asked_in_the_cells_of_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A library that has half of the model's times, and none of SimGrid."""

    def by_library(messages: Messages, blocks: Sequence[Block], *_: object) -> Times:
        assert not messages.machine.points
        sizes = {(block.patterns[0], block.placements[0]): block.bytes for block in blocks}
        assert sizes == {
            ("pingpong", "1x2"): "1,65536,1048576,4194304",
            ("exchange", "1x2"): "1048576",
        }
        cells = [
            Cell(pattern, "native", 2, placement, int(size))
            for (pattern, placement), text in sizes.items()
            for size in text.split(",")
        ]
        return {cell: 0.5 * messages.within_node.time_s(cell.size_bytes) for cell in cells}

    def by_simgrid(*_: object) -> Times:
        raise MissingError("no SimGrid")

    monkeypatch.setattr(answers, "by_library", by_library)
    monkeypatch.setattr(answers, "by_simgrid", by_simgrid)
    trial = prove(catalogue.machine("poweredge-ib"), ENGINES)
    assert trial.agreement.missing == {"simgrid": "no SimGrid"}
    rows = {(row.figure.words, row.figure.unit): row for row in trial.rows}
    library = rows["pingpong, same-node", "time_s"].answers[LIBRARY]
    assert library.ratio == pytest.approx(0.5, rel=0.01)
    assert {cell.cell.pattern for cell in trial.agreement.apart} == {"pingpong", "exchange"}


def test_an_error_that_all_share_is_the_engines() -> None:
    """Three figures that are answered twice as long are fine, a fourth that is not stands out."""
    points = [PublishedPoint(pattern="bcast", size_bytes=size, time_s=1.0) for size in range(4)]
    found = {Figure(point, "time_s"): {"binomial": 2.0} for point in points}
    odd = Figure(points[0], "time_s")
    found[odd] = {"binomial": 6.0}
    judged = prover._judged(found)
    assert judged[odd].sibling_ratio == pytest.approx(3)
    assert [judged[each].sibling_ratio for each in found if each != odd] == pytest.approx([1] * 3)


def test_the_algorithm_that_fits_most_figures_answers_all() -> None:
    points = [PublishedPoint(pattern="bcast", size_bytes=size, time_s=1.0) for size in range(3)]
    figures = [Figure(point, "time_s") for point in points]
    found = {
        each: {"linear": 1.1, "binomial": 1.0 if each == figures[0] else 3.0} for each in figures
    }
    assert {answer.algorithm for answer in prover._judged(found).values()} == {"linear"}


def test_what_is_known_not_to_fit_is_needed_and_holds() -> None:
    """Without its reason, a figure would be in doubt; those of engines alone are not seen here."""
    for known in known_misses():
        rows = [row for row in of_record(known.machine).rows if row.miss == known]
        assert rows, known
        by_model = [row for row in rows if MODEL in row.answers]
        alone = [JudgedFigure(row.figure, row.answers) for row in by_model]
        assert not by_model or any(row.alarms() for row in alone), known


def test_every_kind_has_a_tolerance() -> None:
    kinds = {each.kind for name in STUDIED for each in figures(catalogue.machine(name))}
    assert kinds - {""} == set(TOLERANCES)


@pytest.mark.parametrize("name", STUDIED)
def test_the_page_has_what_the_model_answers_today(name: str) -> None:
    page = json.loads((ROOT / "docs/benchmarks/records.json").read_text(encoding="utf-8"))
    (kept,) = [trial["figures"] for trial in page if trial["machine"] == name]
    rows = of_record(name).rows
    assert [figure["figure"] for figure in kept] == [row.figure.words for row in rows]
    for figure, row in zip(kept, rows, strict=True):
        answer = row.answers.get(MODEL)
        assert figure.get(MODEL) == (answer and pytest.approx(answer.ratio, abs=1e-3))


@pytest.mark.full
@pytest.mark.parametrize("name", ["gige-pair", "myrinet-gm", "opteron-myrinet", "spp1000-pvm"])
def test_no_engine_doubts_a_record(name: str) -> None:
    trial = prove(catalogue.machine(name), ENGINES, library_of("mpich").name)
    assert trial.alarms == ()
    assert trial.agreement.unexplained == 0
    engines = {engine for row in trial.rows for engine in row.answers}
    assert engines >= {MODEL, LIBRARY}


@pytest.mark.parametrize(
    ("point", "kind"),
    [
        (PublishedPoint(pattern="pingpong", time_s=1.0), READ_BACK),
        (PublishedPoint(pattern="pingpong", axes="library=x,test=y", time_s=1.0), ""),
        (PublishedPoint(pattern="pingpong", axes="memory=gpu", time_s=1.0), ""),
        (
            PublishedPoint(pattern="allreduce", axes="algorithm=x", ranks=64, time_s=1.0),
            COLLECTIVES,
        ),
        (PublishedPoint(pattern="allreduce", placement="2x32", ranks=64, time_s=1.0), ""),
    ],
)
def test_other_libraries_and_layouts_are_asked_of_nobody(point: PublishedPoint, kind: str) -> None:
    assert Figure(point, "time_s").kind == kind


def test_a_table_is_held_against_its_link_by_whole_messages() -> None:
    """Its slope between two sizes may be steeper, where the protocol changes."""
    machine = catalogue.machine("csd3-hdr100")
    assert beyond_limits(machine) == []
    network = replace(machine.network, bandwidth_Bps=10e9)
    alarms = beyond_limits(replace(machine, network=network))
    assert {alarm.why for alarm in alarms} == {"times the rate of a link"}
    assert max(alarm.ratio for alarm in alarms) == pytest.approx(1.21, abs=0.01)


@pytest.mark.parametrize("name", ["summit", "gcp-c2"])
def test_tables_that_begin_above_no_bytes_have_limits_too(name: str) -> None:
    beyond_limits(catalogue.machine(name))
