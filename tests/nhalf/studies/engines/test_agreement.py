"""Engines that agree, and those that do not; machines of record through all of them."""

from __future__ import annotations

import math

import msgspec
import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.decide.engine_names import LIBRARY, MODEL, SIMGRID
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.measure.loop.progress import Progress
from nhalf.mpi import simgrid
from nhalf.studies.engines import agreement as module
from nhalf.studies.engines.agreement import (
    Agreement,
    ComparedCell,
    EngineGap,
    Inquiry,
    agreement,
    reasons,
)
from nhalf.studies.engines.answers import MOVED_BYTES_MAX, Cell, blocks_of, by_model, is_own_choice
from tests.nhalf.machines.recorded import NAMES_AND_A_TABLE
from tests.nhalf.measure.virtual.programs import library_of

CELL = Cell("bcast", "binomial", 8, "8x1", 1024)
BARRIER = Cell("barrier", "central", 2, "2x1", 0)


def compared(*times_s: float, reason: str = "") -> ComparedCell:
    return ComparedCell(CELL, {str(number): s for number, s in enumerate(times_s)}, reason=reason)


@pytest.mark.parametrize(
    ("times_s", "agrees"),
    [((1.0, 1.0), True), ((1.0, 1.019), True), ((1.0, 1.0, 1.03), False), ((0.0, 0.0), True)],
)
def test_times_agree_within_the_tolerance(times_s: tuple[float, ...], agrees: bool) -> None:
    assert compared(*times_s).agrees is agrees


def test_a_time_of_nothing_is_infinitely_apart_from_others() -> None:
    assert compared(0.0, 1.0).spread == math.inf


def test_cells_without_a_reason_come_first() -> None:
    cells = (compared(1, 3, reason="known"), compared(1, 1), compared(1, 2))
    answers = Agreement("machine", cells, {})
    assert [cell.reason for cell in answers.apart] == ["", "known"]
    assert answers.unexplained == 1


@pytest.mark.parametrize(
    ("times_s", "outliers"),
    [
        ({"a": 1.0, "b": 1.01, "c": 2.0}, {"c"}),
        ({"a": 1.0, "b": 2.0}, {"a", "b"}),
        ({"a": 1.0, "b": 2.0, "c": 3.0}, {"a", "b", "c"}),
    ],
)
def test_an_outlier_agrees_with_nobody(times_s: dict[str, float], outliers: set[str]) -> None:
    assert module._outliers(times_s) == outliers


def test_a_machine_is_asked_where_it_has_room_and_messages() -> None:
    def placements(name: str) -> set[str]:
        blocks = blocks_of(Messages(catalogue.machine(name)), [2, 8, 32], [8])
        return {placement for block in blocks for placement in block.placements}

    assert placements("gige-pair") == {"2x1"}
    assert placements("myrinet-gm") == {"2x1", "1x2", "8x1"}
    assert placements("sunfire-15k") == {"1x2", "1x8", "1x32"}
    with pytest.raises(InputError, match="no room"):
        blocks_of(Messages(catalogue.machine("gige-pair")), [3], [8])


def test_more_than_a_library_moves_in_seconds_is_not_asked() -> None:
    blocks = blocks_of(Messages(catalogue.machine("altix-bx2")), [2, 32], [8, MOVED_BYTES_MAX // 4])
    sizes = {(block.patterns[0], block.ranks[0]): block.bytes for block in blocks}
    assert sizes["alltoall", 32] == "8"
    assert sizes["alltoall", 2] == sizes["bcast", 32] == f"8,{MOVED_BYTES_MAX // 4}"


def test_published_times_stand_beside_composed_ones() -> None:
    ping = Cell("pingpong", "native", 2, "2x1", 8)
    answers_s, published_s = by_model(Messages(catalogue.machine("myrinet-gm")), [ping, CELL])
    assert answers_s[ping] == published_s[ping] == pytest.approx(6e-6)
    assert CELL in answers_s
    assert CELL not in published_s


def test_a_choice_of_its_own_need_not_agree() -> None:
    assert is_own_choice(Cell("bcast", "native", 8, "8x1", 1024))
    assert is_own_choice(Cell("barrier", "central-native-bcast", 8, "8x1", 0))
    assert not is_own_choice(CELL)
    assert not is_own_choice(Cell("exchange", "native", 2, "2x1", 8))


def test_one_engine_alone_has_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> simgrid.SimGrid:
        raise MissingError("no SimGrid")

    monkeypatch.setattr("nhalf.measure.simulate.subject.simgrid", absent)
    messages = Messages(catalogue.machine("gige-pair"))
    with pytest.raises(MissingError, match="fewer than two engines"):
        agreement(messages, Inquiry([2], [8], ["model", "simgrid"]), Progress(quiet=True))


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        ("gige-pair", [2]),
        *(pytest.param(name, [2, 3, 8, 32], marks=pytest.mark.full) for name in NAMES_AND_A_TABLE),
    ],
)
def test_the_model_answers_as_a_library_does(name: str, ranks: list[int]) -> None:
    inquiry = Inquiry(ranks, [8, 1 << 16, 1 << 20], [MODEL, LIBRARY], library_of("mpich").name)
    answers = agreement(Messages(catalogue.machine(name)), inquiry, Progress(quiet=True))
    assert len(answers.cells) > 30
    unexplained = {
        (compared.cell.pattern, compared.cell.algorithm): compared.as_json()
        for compared in answers.apart
        if not compared.reason
    }
    assert not unexplained


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        # Its rate falls, so that the line through its long messages begins below 0.
        ("poweredge-6650", [3]),
        # As that of this table, from 64 KiB on.
        pytest.param("aws-c5n", [8], marks=pytest.mark.full),
        *(pytest.param(name, [2, 3, 8], marks=pytest.mark.full) for name in NAMES_AND_A_TABLE),
    ],
)
def test_simgrid_answers_as_the_model_does(name: str, ranks: list[int]) -> None:
    inquiry = Inquiry(ranks, [8, 1 << 16], [MODEL, SIMGRID])
    answers = agreement(Messages(catalogue.machine(name)), inquiry, Progress(quiet=True))
    assert len(answers.cells) > 30
    assert not [outcome.as_json() for outcome in answers.apart if not outcome.reason]


def test_a_wrong_machine_would_be_seen() -> None:
    """The library on another machine than the model's does not agree with it."""
    machine = catalogue.machine("gige-pair")
    slower = msgspec.structs.replace(
        machine,
        models=tuple(
            msgspec.structs.replace(
                model,
                segments=tuple(
                    msgspec.structs.replace(segment, t0_s=1.1 * segment.t0_s)
                    for segment in model.segments
                ),
            )
            for model in machine.models
        ),
    )
    cell = Cell("bcast", "linear", 2, "2x1", 8)
    times_s = {
        engine: by_model(Messages(each), [cell])[0]
        for engine, each in ((MODEL, machine), (LIBRARY, slower))
    }
    outcome = module.compare(machine, cell, times_s, {})
    assert outcome is not None
    assert not outcome.agrees


@pytest.mark.parametrize(
    ("machine", "cell", "is_published", "outliers", "words"),
    [
        ("pentiumpro-ethernet", BARRIER, False, {"model"}, "a wire common to all nodes"),
        ("pentiumpro-ethernet", BARRIER, False, {"library"}, ""),
        ("pentiumpro-ethernet", CELL, False, {"model"}, ""),
        ("opteron-myrinet", BARRIER, False, {"model"}, "adapters"),
        ("opteron-myrinet", CELL, False, {"model"}, ""),
        ("altix-bx2", CELL, True, {"model"}, "the pattern itself"),
        ("altix-bx2", CELL, False, {"simgrid"}, ""),
        ("altix-bx2", CELL._replace(size_bytes=1 << 22), False, {"simgrid"}, ""),
        ("sp2-mpl", CELL._replace(pattern="alltoall"), False, {"simgrid"}, ""),
        ("sp2-mpl", Cell("alltoall", "linear", 8, "8x1", 8), False, {"simgrid"}, "at one time"),
    ],
)
def test_reasons_are_those_of_who_is_apart(
    machine: str, cell: Cell, is_published: bool, outliers: set[str], words: str
) -> None:
    told = "".join(
        reasons(EngineGap(catalogue.machine(machine), cell, is_published), outliers).values()
    )
    assert words in told
    assert bool(words) == bool(told)


def test_a_reason_for_one_engine_does_not_tell_why_others_differ() -> None:
    cell = CELL._replace(pattern="alltoall", algorithm="linear")
    machine = catalogue.machine("altix-bx2")
    for model_s, words in ((1.0, "at one time"), (1.1, "")):
        times_s = {"model": {cell: model_s}, "library": {cell: 1.0}, "simgrid": {cell: 2.0}}
        outcome = module.compare(machine, cell, times_s, {})
        assert outcome is not None
        assert words in outcome.reason
        assert bool(words) == bool(outcome.reason)
