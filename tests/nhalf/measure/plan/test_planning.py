"""Placements and numbers of ranks of a study's blocks, with what the user asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import InputError
from nhalf.jobs.request import RunRequest
from nhalf.measure.plan.axes import expand
from nhalf.measure.plan.plan import Block
from nhalf.measure.plan.planning import check_options, parse_precision, placed, plan_of
from nhalf.sites.hosts import Host
from nhalf.sites.site import Site
from tests.nhalf.traced_programs import call, stored, timed

TWO_CORES = Site((Host("n1", 2),))
BLOCK = Block(["pair-map-latency"], [5], "8", placements=["whole-host"])


def test_a_layout_brings_its_ranks() -> None:
    found = placed(BLOCK, (), TWO_CORES)
    assert (found.placements, found.ranks) == (["1x2"], [2])


def test_ranks_that_no_layout_of_a_study_has_are_placed_on_cores() -> None:
    found = placed(BLOCK, ("ranks",), TWO_CORES)
    assert (found.placements, found.ranks) == (["cores"], [5])


def test_a_layout_that_was_asked_for_must_have_the_ranks() -> None:
    with pytest.raises(InputError, match="--placement 1x2 does not have 5 ranks"):
        placed(BLOCK, ("ranks", "placement"), TWO_CORES)


def test_a_transport_on_the_command_line_replaces_those_of_all_blocks() -> None:
    plan = plan_of(RunRequest(study="memory"), TWO_CORES)
    assert plan.transports == ["mpi", "threads", "shm"]
    assert [block.transports for block in plan.blocks if "sdes" in block.patterns] == [
        ["threads", "shm"]
    ]
    chosen = RunRequest(study="memory", transport="am,rma", given=frozenset({"transport"}))
    plan = plan_of(chosen, TWO_CORES)
    assert plan.transports == ["am", "rma"]
    assert {block.transports for block in plan.blocks} == {None}


def test_libraries_on_the_command_line_are_all_measured() -> None:
    assert plan_of(RunRequest(study="memory"), TWO_CORES).one_library
    chosen = RunRequest(study="memory", mpi="mpich,intel", given=frozenset({"mpi"}))
    assert not plan_of(chosen, TWO_CORES).one_library
    assert not plan_of(RunRequest(study="quick"), TWO_CORES).one_library


@pytest.mark.parametrize("value", [3.5, 1.0, 0.0, 200.0])
def test_a_precision_that_is_no_fraction_is_refused(value: float) -> None:
    words = rf"a precision of {value:g} \({100 * value:g} %\) is not possible; .* e.g. 3% or 0.03"
    with pytest.raises(InputError, match=words):
        parse_precision(value)


DESCRIBED = [{"name": "o_s"}, {"name": "L"}, {"name": "noise"}]


@pytest.mark.parametrize("text", ["o_s=1e-6", "o_s=0,L=5e-6,noise=0.05", "L=1"])
def test_known_names_and_numbers_pass(text: str) -> None:
    check_options(text, DESCRIBED)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "not written as name=value"),
        ("o_s", "not written as name=value"),
        ("o_s=1,", "not written as name=value"),
        ("=1", "unknown option ''"),
        ("O_s=1", "did you mean o_s"),
        ("noize=1", "did you mean noise"),
        ("o_s=", "o_s= is not a number"),
        ("o_s=fast", "o_s=fast is not a number"),
        ("o_s=-1", "from 0 up"),
        ("o_s=nan", "from 0 up"),
        ("o_s=inf", "from 0 up"),
        ("o_s=1e999", "from 0 up"),
    ],
)
def test_anything_else_is_one_clear_line(text: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        check_options(text, DESCRIBED)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_options_nothing_is_known() -> None:
    with pytest.raises(InputError, match="no option is known here"):
        check_options("o_s=1", [])


def test_a_long_series_is_parts_of_one_launch() -> None:
    plan = plan_of(RunRequest(pattern="barrier", soak="1e6"), TWO_CORES)
    [block] = plan.blocks
    assert (block.patterns, block.bytes, plan.launches) == (["soak"], "8", 1)
    assert block.axes == {"of": "barrier", "calls": "20000", "part": "1:50"}
    assert plan.launches_fixed


@pytest.mark.parametrize("calls", ["", "0", "49", "x", "nan", "inf", "1e11", "-5"])
def test_a_long_series_needs_a_number_of_calls(calls: str) -> None:
    if not calls:
        assert plan_of(RunRequest(pattern="pingpong", soak=calls), TWO_CORES).launches == 5
        return
    with pytest.raises(InputError, match="no number of calls"):
        plan_of(RunRequest(soak=calls), TWO_CORES)


@pytest.mark.parametrize("asked", [{"pattern": "a,b"}, {"study": "quick"}, {"axis": ("grain=1",)}])
def test_a_long_series_repeats_one_pattern(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="--soak repeats one pattern"):
        plan_of(RunRequest(soak="1e6", **asked), TWO_CORES)


def test_arrivals_of_a_trace_become_a_table(tmp_path: Path) -> None:
    calls = [call(rank, "MPI_Bcast", "collective", -1, 1 + 5e-6 * rank, 2) for rank in range(3)]
    folder = stored(timed(3, *calls), tmp_path / "trace")
    request = RunRequest(pattern="bcast", axis=(f"arrival=trace:{folder}", "part=1K"))
    [block] = plan_of(request, TWO_CORES).blocks
    assert block.axes == {"arrival": "0-5-10", "part": "1K"}
    assert expand(block.axes["arrival"], {"ranks": 3}) == ["0-5-10"]
