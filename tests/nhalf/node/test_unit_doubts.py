"""Rates of units that cannot be: measured again, marked, and never above what a bound allows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from nhalf.machines.processor_file import processor, read, write
from nhalf.measure.loop.records import Records
from nhalf.measure.probe.subject import Subject
from nhalf.node import measuring
from nhalf.node.measuring import CoreProbe
from nhalf.node.reading import UNIT, Reading, reading
from nhalf.node.unit_doubts import quickest, rate_doubts
from nhalf.node.units import doubtful, operations
from nhalf.statistics.intervals import Interval

Rates = Mapping[tuple[str, int], Sequence[float]]


def readings(rates: Rates, first: int = 0, alone: float = 1.0) -> list[Reading]:
    """Points with these rates by kernel and width, one per launch."""
    return [
        reading(
            UNIT, 0, {"operation": kernel, "bits": str(bits), "chains": "12"}, first + launch,
            [4e-10 / rate], {"cycles_p25": 1 / rate, "cycle_s": 4e-10, "was_alone": alone},
        )
        for (kernel, bits), launches in rates.items()
        for launch, rate in enumerate(launches)
    ]  # fmt: skip


def test_plain_rates_are_not_doubtful() -> None:
    plain = {
        ("fused", 64): [1.74] * 6,
        ("fused", 256): [2.0, 1.99, 1.98, 1.5, 1.0, 1.97],
        ("taken-branch", 64): [0.85, 0.88, 0.86, 0.85, 0.85, 0.86],
        ("divide", 64): [0.25] * 6,
        ("divide", 512): [0.0625] * 6,
    }
    assert doubtful(readings(plain)) == {}
    assert doubtful([]) == {}


def test_scalars_below_vectors_are_marked_and_bounds_reckon_with_vectors() -> None:
    rates = {("fused", 64): [1.66] * 6, ("fused", 256): [2.0] * 6}
    scalar, vector = operations(readings(rates))
    assert scalar.doubt == "1.66 per cycle measured, less than 256 bits (2.00)"
    assert (scalar.per_cycle, scalar.most_per_cycle) == (pytest.approx(1.66), 2.0)
    assert (vector.doubt, vector.most_per_cycle) == (None, 2.0)


def test_vectors_above_scalars_are_taken_for_scalars() -> None:
    rates = {("fused", 64): [2.0] * 6, ("fused", 512): [2.38] * 6}
    scalar, vector = operations(readings(rates))
    assert scalar.doubt is None
    assert vector.doubt == "2.38 per cycle measured, more than scalars (2.00)"
    assert (vector.per_cycle, vector.most_per_cycle) == (2.0, 2.0)
    assert vector.per_cycle_ci == (2.0, 2.0)


def test_launches_that_disagree_are_marked() -> None:
    (permute,) = operations(readings({("permute", 256): [1.0, 0.79, 0.6, 0.5, 0.3, 0.3]}))
    assert permute.doubt == "launches disagree (0.30 to 1.00 a cycle)"
    assert permute.per_cycle == pytest.approx(0.79)
    assert permute.most_per_cycle == 1.0


def test_a_rate_from_a_core_that_was_never_free_is_marked_unless_whole() -> None:
    rates = {("permute", 256): [0.79] * 6, ("add", 64): [2.0] * 6}
    found = doubtful(readings(rates, alone=0.0))
    assert {key: doubt.reason for key, doubt in found.items()} == {
        ("permute", 256): "other programs had the core in every launch"
    }


def test_the_fastest_of_many_launches_may_be_a_wrong_clock() -> None:
    assert quickest([2.0]) == 2.0
    assert quickest([2.0, 3.0, 1.0]) == 3.0
    assert quickest([2.0, 3.0, 1.0, 2.0]) == 2.0
    assert quickest([3.0, 3.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]) == 2.0


def test_one_launch_or_equal_ones_are_not_doubtful() -> None:
    rate = {("add", 64): Interval(2.0, 2.0, 2.0)}
    assert rate_doubts(rate, {("add", 64): [2.0]}, {}) == {}
    assert rate_doubts(rate, {}, {}) == {}
    assert rate_doubts({}, {}, {}) == {}


@pytest.mark.parametrize(("calm_after", "launches"), [(0, 0), (1, 1), (2, 2), (9, 3)])
def test_doubtful_units_are_timed_again_until_they_are_plain(
    calm_after: int, launches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, set[tuple[str, int]]]] = []
    odd = {("fused", 64): [1.66], ("fused", 256): [2.0], ("add", 64): [2.0]}
    calm = {("fused", 64): [2.0] * 12}

    def launch(
        subject: Subject, records: Records, number: int, further: Any = None, keys: Any = None
    ) -> list[Reading]:
        asked.append((number, set(keys)))
        return readings(calm, number) if len(asked) >= calm_after else readings(odd, number)

    monkeypatch.setattr(measuring, "_launch", launch)
    before = readings(odd | calm if not calm_after else odd)
    measuring._again(cast("Subject", None), cast("Records", None), before)
    assert [number for number, _ in asked] == list(range(6, 6 + launches))
    assert all(keys == {("fused", 64)} for _, keys in asked)


def test_only_the_kernels_of_the_keys_are_asked_for() -> None:
    kernels = [
        {"operation": name, "bits": bits, "chains": chains}
        for name in ("add", "fused")
        for bits in (64, 256)
        for chains in (1, 12)
    ]
    asked: list[tuple[str, int, int]] = []
    core = SimpleNamespace(
        subject=SimpleNamespace(description={"kernels": kernels}),
        ask=lambda pattern, size, operation, bits, chains: asked.append((operation, bits, chains)),
    )
    measuring.ask_units(cast("CoreProbe", core), {("fused", 256)})
    assert asked == [("fused", 256, 1), ("fused", 256, 12)]
    measuring.ask_units(cast("CoreProbe", core))
    assert len(asked) == 2 + len(kernels)


def test_doubts_are_in_the_file_of_a_processor(tmp_path: Path) -> None:
    import msgspec

    power = processor("power2")
    assert power.doubts == ()
    marked = msgspec.structs.replace(
        power, operations=(msgspec.structs.replace(power.operations[0], doubt="odd"),
                           *power.operations[1:]),
    )  # fmt: skip
    write(marked, tmp_path / "marked.toml")
    (text,) = read(tmp_path / "marked.toml").doubts
    assert text == "add, scalar: odd; bounds reckon with up to 2.00"
