"""Plans in their files, of today and of version 1.

Settings: how they are written, and what a library under one is.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from nhalf.base.errors import InputError
from nhalf.machines.layout import Layout
from nhalf.measure.plan import plan as module
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import (
    SIZES_MAX,
    Block,
    Plan,
    Setting,
    Sizes,
    array_bytes,
    b_eff_lengths,
    b_eff_longest,
    check_settings,
    memory_bytes,
    parse_setting,
    parse_settings,
    parse_sizes,
    read_plan,
    sizes_of,
    split_name,
)
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.subject import Subject
from nhalf.mpi import Library
from nhalf.sites.placement import Placement

BLOCK = {"patterns": ["pingpong"], "ranks": [2], "bytes": "0:4M"}
CHOICES: dict[str, Any] = {
    "transports": ["mpi"], "mpi": ["mpich-5.0.2"], "launches": 5, "budget_s": 0.0,
    "precision": 0.01, "options": "", "seed": 1, "timeout_s": 60.0,
}  # fmt: skip


def test_a_plan_survives_its_file() -> None:
    further = Block(["bcast"], [2, 4], "8", axes={"start": "sync,barrier"}, weight=2.5, whole=True)
    plan = read_plan({**CHOICES, "blocks": [BLOCK]})
    plan = msgspec.structs.replace(plan, blocks=[*plan.blocks, further], study="mine.toml")
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan
    assert read_plan(msgspec.to_builtins(plan)) == plan


def test_a_plan_of_version_1_is_one_block() -> None:
    old = {**CHOICES, **BLOCK, "placement": "free"}
    plan = read_plan(old)
    assert plan.blocks == [Block(["pingpong"], [2], "0:4M", placements=["free"])]
    assert "blocks" not in old


def test_a_block_takes_what_it_does_not_say_from_the_plan() -> None:
    plan = read_plan({**CHOICES, "blocks": [BLOCK, {**BLOCK, "launches": 2, "precision": 0.1}]})
    assert [plan.launches_of(block) for block in plan.blocks] == [5, 2]
    assert [plan.precision_of(block) for block in plan.blocks] == [0.01, 0.1]
    assert plan.patterns == ["pingpong"]


@pytest.mark.parametrize(
    "change",
    [
        {"unknown": 1},
        {"blocks": [{**BLOCK, "ranks": "2"}]},
        {"blocks": [{**BLOCK, "weight": 0}]},
        {"blocks": [{**BLOCK, "launches": -1}]},
        {"blocks": [{**BLOCK, "axes": {"pairs": 1}}]},
        {"launches": None},
    ],
)
def test_a_plan_of_another_form_is_not_read(change: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        read_plan({**CHOICES, "blocks": [BLOCK], **change})


def test_texts_of_a_block_are_parsed_once_and_stored_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts: list[str] = []
    parse = module.sizes_of

    def counted(text: str, ranks: int) -> Sizes:
        texts.append(text)
        return parse(text, ranks)

    monkeypatch.setattr(module, "sizes_of", counted)
    block = Block(["pingpong"], [2, 4], "0,8", placements=["cores", "2x1"])
    stored = msgspec.to_builtins(block)
    assert {block.sizes_on(2).size_bytes for _ in range(3)} == {(0, 8)}
    assert block.parsed_placements is block.parsed_placements
    assert block.parsed_placements == (Placement("cores"), Placement("2x1", Layout(2, 1)))
    assert texts == ["0,8"]
    assert msgspec.to_builtins(block) == stored
    assert msgspec.json.decode(msgspec.json.encode(block), type=Block) == block


def test_a_changed_block_has_its_own_values() -> None:
    block = Block(["pingpong"], [2], "8")
    assert block.sizes_on(2).size_bytes == (8,)
    assert [placement.text for placement in block.parsed_placements] == ["cores"]
    changed = msgspec.structs.replace(block, bytes="16", placements=["free"])
    assert changed.sizes_on(2).size_bytes == (16,)
    assert [placement.text for placement in changed.parsed_placements] == ["free"]


@pytest.mark.parametrize(
    ("text", "sizes", "adaptive"),
    [
        ("0", (0,), False),
        ("8,0,4K,8", (0, 8, 4096), False),
        (" 1 , 2KiB ", (1, 2048), False),
        ("0:10:5", (0, 5, 10), False),
        ("0:11:5", (0, 5, 10), False),
        ("3:3:1", (3,), False),
        ("0:8", (0, 1, 2, 4, 8), True),
        ("3:9", (3, 4, 8, 9), True),
        ("0:0", (0,), True),
        ("7:7", (7,), True),
        ("1m:2M", (2**20, 2**21), True),
    ],
)
def test_ranges_lists_and_grids(text: str, sizes: tuple[int, ...], adaptive: bool) -> None:
    parsed = parse_sizes(text)
    assert parsed.size_bytes == sizes
    assert parsed.adaptive == adaptive


def test_the_default_range_has_24_sizes() -> None:
    assert len(parse_sizes("0:4M").size_bytes) == 24


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "''"),
        (" ", "not a size"),
        (",", "not a size"),
        ("8,", "not a size"),
        (":", "not a size"),
        ("0:", "not a size"),
        (":4M", "not a size"),
        ("0:4M:", "not a size"),
        ("0:1:1:1", "not a range"),
        ("-1", "'-1' is not a size"),
        ("1.5K", "'1.5K'"),
        ("4X", "'4X'"),
        ("nan", "'nan'"),
        ("1e3", "'1e3'"),
        ("0x10", "'0x10'"),
        ("4 K 4", "not a size"),
        ("8;16", "'8;16'"),
        ("8:4", "write 4:8"),
        ("0:100:0", "step of 0"),
        ("2T", "too large"),
        ("9" * 30, "too large"),
        ("0:1T:1", f"more than {SIZES_MAX}"),
        (f"0:{SIZES_MAX}:1", f"more than {SIZES_MAX}"),
    ],
)
def test_anything_else_is_one_clear_line(text: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_sizes(text)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


def test_the_largest_grid() -> None:
    assert len(parse_sizes(f"1:{SIZES_MAX}:1").size_bytes) == SIZES_MAX


@given(some.integers(0, 2**40), some.integers(0, 2**40))
def test_a_range_holds_its_ends_and_doubles_in_between(low: int, high: int) -> None:
    low, high = sorted((low, high))
    sizes = parse_sizes(f"{low}:{high}").size_bytes
    assert sizes[0] == low
    assert sizes[-1] == high
    assert list(sizes) == sorted(set(sizes))
    assert all(size & (size - 1) == 0 for size in sizes[1:-1])
    assert all(b <= 2 * max(a, 1) for a, b in itertools.pairwise(sizes) if a)


@given(some.text(max_size=12))
def test_no_text_is_anything_but_sizes_or_an_input_error(text: str) -> None:
    try:
        parsed = parse_sizes(text)
    except InputError:
        return
    assert parsed.size_bytes


def test_b_eff_has_its_21_lengths() -> None:
    """1, 2, 4 to 4096, then eight equal factors up to the longest."""
    lengths = sizes_of("b_eff:1M", ranks=2).size_bytes
    assert lengths[:13] == tuple(2**k for k in range(13))
    assert lengths[13:] == (8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576)
    assert not sizes_of("b_eff", ranks=2).adaptive
    assert len(sizes_of("b_eff", ranks=2).size_bytes) == 21


@pytest.mark.parametrize(
    ("host_bytes", "ranks", "longest_bytes"),
    [(2**30, 2, 2**22), (2**36, 4, 2**27), (2**50, 1, 2**27), (2**34, 3, 2**34 // 3 // 128)],
)
def test_the_longest_is_a_128th_of_the_memory_of_a_process(
    host_bytes: int, ranks: int, longest_bytes: int
) -> None:
    assert b_eff_longest(host_bytes, ranks) == longest_bytes
    assert b_eff_lengths(longest_bytes)[-1] == longest_bytes


@pytest.mark.parametrize("text", ["b_eff:4K", "b_eff:x", "b_eff,8"])
def test_other_b_eff_is_one_clear_line(text: str) -> None:
    with pytest.raises(InputError):
        sizes_of(text, ranks=2)


def test_other_texts_are_read_as_ever() -> None:
    assert sizes_of("0:64", ranks=2) == parse_sizes("0:64")


@pytest.mark.parametrize(
    ("all_caches_MiB", "host_MiB", "array_MiB"),
    [(32, 65536, 128), (480, 24064, 1920), (480, 8192, 1024), (0, 8192, 1), (32, 4, 1)],
)
def test_an_array_of_stream_is_four_times_all_caches_where_memory_allows(
    all_caches_MiB: int, host_MiB: int, array_MiB: int
) -> None:
    assert array_bytes(all_caches_MiB << 20, host_MiB << 20) == array_MiB << 20


def test_the_size_memory_is_one_that_a_probe_can_have() -> None:
    (size_bytes,) = sizes_of("memory", 1).size_bytes
    assert 0 < size_bytes <= memory_bytes() // 8
    assert sizes_of("memory", 64) == sizes_of("memory", 1)


HERE = Path("/opt/x")
LIBRARY = Library(
    "openmpi-5.0.11", "openmpi", "5.0.11", HERE, Path("/bin/true"), "openmpi", False, None,
    "prefix", {"LD_LIBRARY_PATH": "/opt/x/lib", "OMPI_MCA_btl": "^ofi"},
)  # fmt: skip
PATTERNS = [{"name": name, "present": True, "timing": "operation"} for name in ("bcast", "scan")]
PLAIN = Subject(
    "mpi", ("probe",), {"patterns": PATTERNS, "options": []}, LIBRARY, measures_library=True
)


def test_a_setting_is_a_name_and_variables() -> None:
    found = parse_settings(["flat: A=1 B='two words' C=", " deep :A=x=y"])
    assert found == [
        Setting("flat", {"A": "1", "B": "two words", "C": ""}),
        Setting("deep", {"A": "x=y"}),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A=1", "has no name"),
        ("", "has no name"),
        (": A=1", "no name of a setting"),
        ("a+b: A=1", "no name of a setting"),
        ("a,b: A=1", "no name of a setting"),
        ("a b: A=1", "no name of a setting"),
        ("x:", "sets nothing"),
        ("x: A", "no VAR=value"),
        ("x: =1", "no name of a variable"),
        ("x: 1A=1", "no name of a variable"),
        ("x: A=1 A=2", "stands twice"),
        ("x: A='1", "cannot be read"),
        ("x: LD_LIBRARY_PATH=/y", "may not set LD_LIBRARY_PATH"),
        ("x: A='1\n2'", "not one line"),
    ],
)
def test_what_is_not_written_so_is_one_clear_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        parse_settings([text])
    assert "\n" not in str(caught.value)


def test_a_name_is_given_once_for_each_library() -> None:
    with pytest.raises(InputError, match="given twice"):
        parse_settings(["x: A=1", "x: A=2"])
    check_settings([Setting("x", {"A": "1"}, "mpich-5.0.2"), Setting("x", {"B": "1"}, "openmpi-5")])


def test_a_library_under_a_setting_is_a_subject_of_its_own() -> None:
    subject = PLAIN.under(Setting("flat", {"OMPI_MCA_btl": "self", "X": "1"}))
    assert (subject.mpi, subject.key) == ("openmpi-5.0.11+flat",) * 2
    assert subject.title == f"{LIBRARY.title} + flat"
    _, variables = subject.launch(2, "free", "")
    assert variables["OMPI_MCA_btl"] == "self"
    assert variables["X"] == "1"
    assert variables["LD_LIBRARY_PATH"] == "/opt/x/lib"
    assert PLAIN.launch(2, "free", "")[1]["OMPI_MCA_btl"] == "^ofi"
    assert split_name(subject.mpi) == ("openmpi-5.0.11", "flat")
    assert split_name(PLAIN.mpi) == ("openmpi-5.0.11", "")


def test_a_block_may_be_for_some_settings_only() -> None:
    flat = PLAIN.under(Setting("flat", {"X": "1"}))
    blocks = [
        Block(["bcast"], [2], "8"),
        Block(["scan"], [2], "8", settings=["flat"]),
        Block(["scan"], [2], "64", settings=[""]),
    ]
    plan = Plan(["mpi"], [], blocks, 1, 0.0, 0.01, "", 1, 1.0)
    agenda = Agenda(plan, [PLAIN, flat], RunState())
    found = {
        (start.subject, point.pattern, point.size_bytes)
        for start in agenda.starts()
        for point in agenda.points(start)
    }
    assert found == {
        ("openmpi-5.0.11", "bcast", 8),
        ("openmpi-5.0.11+flat", "bcast", 8),
        ("openmpi-5.0.11+flat", "scan", 8),
        ("openmpi-5.0.11", "scan", 64),
    }


def test_settings_are_kept_in_the_plan() -> None:
    import msgspec

    settings = [Setting("flat", {"X": "1"}, "openmpi-5.0.11")]
    plan = Plan(
        ["mpi"], [], [Block(["x"], [2], "8", settings=["flat"])], 1, 0.0, 0.01, "", 1, 1.0,
        settings=settings,
    )  # fmt: skip
    assert read_plan(msgspec.to_builtins(plan)) == plan


SHMQ = Subject("shmq", ("probe",), {"patterns": PATTERNS, "options": [{"name": "polling"}]})


def test_options_of_a_transport_make_a_subject_of_its_own() -> None:
    directed = SHMQ.under(parse_setting("directed: shmq.polling=directed"))
    assert (directed.transport, directed.key) == ("shmq+directed", "shmq+directed")
    assert directed.title == "shmq + directed"
    command, _ = directed.launch(2, "free", "seed=1")
    assert command[command.index("--options") + 1] == "seed=1,polling=directed"


def test_a_setting_is_for_one_transport() -> None:
    with pytest.raises(InputError, match="more than one transport"):
        parse_settings(["both: shmq.polling=directed FI_PROVIDER=tcp"])
