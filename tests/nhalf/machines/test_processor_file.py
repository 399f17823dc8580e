"""Descriptions of processors: written and read unchanged, and refused where they are wrong."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from nhalf.base.errors import InputError
from nhalf.machines import processor_file
from nhalf.machines.processor import Cache, Processor, ProcessorOperation, Unit

ADD = ProcessorOperation(name="add", per_cycle=2, latency_cycles=3, latency_ci=(2.9, 3.1))
WIDE = ProcessorOperation(name="add", lanes=4, per_cycle=2)
SMALL = Processor(
    name="small",
    clock_hz=1e9,
    issue_per_cycle=4,
    operations=(ADD, WIDE),
    units=(Unit(name="adders", kind="floating_point", cycles={"add": 0.5, "add.4": 0.5}),),
    caches=(Cache(level=1, size_bytes=32768, line_bytes=64),),
)
WRONG = {
    "schema = 1": ("schema = 2", "schema version 2"),
    "clock_hz = 66.7e6": ("clock_hz = 0", "clock_hz"),
    "issue_per_cycle = 4": ("issue_per_cycle = nan", "issue_per_cycle"),
    "ways = 4": ("way = 4", "did you mean ways?"),
    'name = "add"': ('name = "ad"', "operations[0]"),
    'name = "multiply"': ('name = "add"', "operation add is there twice"),
    "cycles = {load = 0.5}": ("cycles = {loads = 0.5}", "loads, which is no operation"),
    "level = 1": ("level = 2", "levels of caches"),
}


def power2_text() -> str:
    return (processor_file.FOLDER / "power2.toml").read_text("utf-8")


@pytest.mark.parametrize("right", WRONG)
def test_a_wrong_description_is_refused_and_its_place_is_named(tmp_path: Path, right: str) -> None:
    wrong, said = WRONG[right]
    path = tmp_path / "wrong.toml"
    path.write_text(power2_text().replace(right, wrong, 1), "utf-8")
    with pytest.raises(InputError) as caught:
        processor_file.processor(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["", "schema = 1", "not TOML", "\xff"])
def test_a_file_without_a_description_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "none.toml"
    path.write_text(text, "latin-1")
    with pytest.raises(InputError, match=r"none\.toml"):
        processor_file.read(path)


def test_an_unknown_name_is_refused_with_the_closest_one() -> None:
    with pytest.raises(InputError, match="did you mean power2"):
        processor_file.processor("power3")


def test_what_is_written_is_read_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    processor_file.write(SMALL, path)
    assert processor_file.processor(str(path)) == SMALL


FORMER = """schema = 1
name = "old"
clock_hz = 1e9
issue_per_cycle = 4
window_instructions = 224
waiting_instructions = 97
joined_pairs = ["move", "whole_move", "whole_load"]
operations = [
  {name = "whole_load", per_cycle = 3}, {name = "whole_load", lanes = 4, per_cycle = 2},
  {name = "whole_store", per_cycle = 1}, {name = "store_apart", per_cycle = 0.5},
]
units = [{name = "loads", kind = "memory", cycles = {whole_load = 0.5, "whole_load.4" = 0.5}}]
"""


def test_former_names_are_still_read(tmp_path: Path) -> None:
    path = tmp_path / "old.toml"
    path.write_text(FORMER, "utf-8")
    old = processor_file.read(path)
    assert (old.reorder_buffer_instructions, old.scheduler_instructions) == (224, 97)
    assert old.fused_pairs == ("move", "integer_move", "integer_load")
    names = ["integer_load", "integer_load.4", "integer_store", "line_change_store"]
    assert [operation.key for operation in old.operations] == names
    assert old.units[0].cycles == {"integer_load": 0.5, "integer_load.4": 0.5}
    processor_file.write(old, path)
    assert not any(former in path.read_text("utf-8") for former in processor_file.FORMER_NAMES)
    assert processor_file.read(path) == old


def test_a_key_under_both_of_its_names_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "both.toml"
    path.write_text(f"scheduler_instructions = 90\n{FORMER}", "utf-8")
    with pytest.raises(InputError, match="waiting_instructions is a former name"):
        processor_file.read(path)


def test_an_access_to_integers_is_like_one_to_floating_point_numbers() -> None:
    load = ProcessorOperation(name="load", per_cycle=2)
    multiply = ProcessorOperation(name="multiply", per_cycle=4)
    described = msgspec.structs.replace(SMALL, operations=(load, multiply), units=())
    assert described.busy_cycles("integer_load") == 0.5
    assert described.busy_cycles("integer_multiply") == 0.0


@pytest.mark.parametrize("name", processor_file.names())
def test_processors_of_record_are_read_and_written_unchanged(tmp_path: Path, name: str) -> None:
    known = processor_file.processor(name)
    assert known.name == name
    assert known.source
    path = tmp_path / "copy.toml"
    processor_file.write(known, path)
    assert processor_file.read(path) == known


def test_an_operation_is_found_by_its_name_and_width() -> None:
    assert SMALL.operation("add", 4) == WIDE
    assert SMALL.operation("add", 2) is None
    assert SMALL.operation("divide") is None


def test_power2_has_what_was_published() -> None:
    power2 = processor_file.processor("power2")
    assert power2.clock_hz == 66.7e6
    arithmetic = power2.units[0].cycles
    assert arithmetic["divide"] == 17 / 2
    assert arithmetic["square_root"] == 27 / 2
    for operation in power2.operations:
        shares = [unit.cycles.get(operation.key, 0) for unit in power2.units]
        assert 1 / operation.per_cycle == pytest.approx(max(shares))
    assert power2.caches == (
        Cache(
            level=1, size_bytes=65536, line_bytes=64, ways=4, hit_cycles=1,
            load_miss_cycles=15.3, store_miss_cycles=21.0,
        ),
    )  # fmt: skip


def test_descriptions_are_values() -> None:
    with pytest.raises(AttributeError):
        ADD.per_cycle = 3.0  # type: ignore[misc]
    assert msgspec.structs.replace(ADD, lanes=4).key == "add.4"
