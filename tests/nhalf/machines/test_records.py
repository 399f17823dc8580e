"""Machines of record: complete, and each says what was published.

Times by hand are microseconds, and rates MB/s, which is bytes per microsecond.
"""

from __future__ import annotations

import tomllib
from math import log2, sqrt
from typing import Any

import msgspec
import pytest

from nhalf.machines import catalogue
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import encode
from nhalf.machines.topology import SharedMemory
from nhalf.store.keys import parse_axes
from tests.nhalf.machines.recorded import MIB_4, NAMES, OTHER, SAME, curve


def keys_lost(written: Any, read: Any) -> list[str]:
    """The keys of a file that no part of the form has."""
    if isinstance(written, dict):
        lost = [key for key in written if key not in read]
        return lost + [
            k for key in written if key in read for k in keys_lost(written[key], read[key])
        ]
    if isinstance(written, list):
        return [key for a, b in zip(written, read, strict=True) for key in keys_lost(a, b)]
    return []


@pytest.mark.parametrize("name", NAMES)
def test_no_key_is_misspelled(name: str) -> None:
    written = tomllib.loads((catalogue.FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    read = msgspec.to_builtins(catalogue.machine(name))
    assert keys_lost(written, read) == []
    assert keys_lost({"a": [{"b": 1}]}, {"a": [{}]}) == ["b"]


@pytest.mark.parametrize("name", NAMES)
def test_is_complete(name: str) -> None:
    machine = catalogue.machine(name)
    assert machine.name == name
    assert len(machine.title) <= 26, "the table of machines has 100 columns"
    assert machine.year is not None
    assert 1990 <= machine.year <= 2010
    assert str(machine.year) in machine.source
    assert "\n" not in machine.source
    assert machine.unknown and machine.assumptions
    assert machine.node is not None
    assert machine.network is not None
    topology = machine.network.topology
    if not isinstance(topology, SharedMemory):
        assert topology.nodes > 1
        assert machine.network.bandwidth_Bps
    curves = [model for model in machine.models if model.pattern == "pingpong"]
    between = {model.placement for model in curves}
    if isinstance(topology, SharedMemory):
        assert between == {"same-node"}
    else:
        assert "other-node" in between
    assert len({(model.transport, model.mpi) for model in curves}) == 1
    assert all(part.source for part in (*machine.models, *machine.patterns, *machine.points))
    assert msgspec.convert(msgspec.toml.decode(encode(machine)), Machine) == machine


@pytest.mark.parametrize("name", NAMES)
def test_curves_have_no_hole_and_no_negative_time(name: str) -> None:
    for model in catalogue.machine(name).models:
        parse_axes(model.axes)
        first, last = model.segments[0], model.segments[-1]
        assert (first.from_bytes, last.to_bytes) == (0, MIB_4)
        for left, right in zip(model.segments, model.segments[1:], strict=False):
            assert right.from_bytes == left.to_bytes + 1
        edges = {n for s in model.segments for n in (s.from_bytes, s.to_bytes)}
        for size in sorted(edges | {2**k for k in range(23)} | {3 * 2**k for k in range(21)}):
            assert model.time_s(size) > 0


@pytest.mark.parametrize("name", NAMES)
def test_patterns_cover_each_point_at_most_once_and_take_time(name: str) -> None:
    machine = catalogue.machine(name)
    for kind in {(model.pattern, model.what) for model in machine.patterns}:
        models = [model for model in machine.patterns if (model.pattern, model.what) == kind]
        for size in (0, 1, 216, 217, 512, 513, 2047, 2048, 2049, 4095, 4096, 4097, 8192, 8193,
                     16384, 16385, 65536, 65537, 2**20, MIB_4):  # fmt: skip
            for ranks in (2, 3, 4, 5, 8, 32):
                found = [model for model in models if model.covers(size, ranks)]
                assert len(found) <= 1
                assert all(model.time_s(size, ranks) > 0 for model in found)
                # A sum of many has no end but one that the publication names.
                limited = kind[0] == "exchange" or (name, kind[0]) == (
                    "spp1000-pvm",
                    "many-to-many",
                )
                assert found or limited


CURVES: list[tuple[str, str, int, float]] = [
    ("sp1-mpl", OTHER, 0, 43),
    ("sp1-mpl", OTHER, 216, 43 + 216 / 5.56),
    ("sp1-mpl", OTHER, 217, 58 + 217 / 7.39),
    ("sp1-mpl", OTHER, 8192, 58 + 8192 / 7.39),
    ("sp1-mpl", OTHER, 8193, 228 + 8193 / 8.70),
    ("sp1-mpl", OTHER, MIB_4, 228 + MIB_4 / 8.70),
    ("sp2-mpl", OTHER, 216, 47 + 216 / 23.5),
    ("sp2-mpl", OTHER, 217, 55 + 217 / 22.6),
    ("sp2-mpl", OTHER, 2048, 55 + 2048 / 22.6),
    ("sp2-mpl", OTHER, 2049, 74 + 2049 / 29.3),
    ("sp2-mpl", OTHER, 65535, 74 + 65535 / 29.3),
    ("sp2-mpl", OTHER, 65536, 399 + 65536 / 36.2),
    ("sp2-ip", OTHER, 65535, 499 + 65535 / 1.06),
    ("sp2-ip", OTHER, 65536, 746 + 65536 / 1.08),
    ("sp2-pvme", OTHER, 216, 104 + 216 / 15.9),
    ("sp2-pvme", OTHER, 217, 120 + 217 / 17.8),
    ("spp1000-pvm", SAME, 512, 74 + 512 / 6.44),
    ("spp1000-pvm", SAME, 513, 136 + 513 / 12.38),
    ("spp1000-pvm", SAME, 65536, 136 + 65536 / 12.38),
    ("spp1000-pvm", SAME, 65537, 65537 / 9.39 - 7.78 * sqrt(65537)),
    ("spp1000-pvm", SAME, 1000000, 1000000 / 9.39 - 7780),
    ("sunfire-link", SAME, 1000, 2.8 + 1000 / 658.6),
    ("sunfire-link", OTHER, 64, 5.0),
    ("sunfire-link", OTHER, 65, 5.0 + 65 / 659.5),
    ("myrinet-gm", SAME, 1000, 1.5 + 1000 / 720.4),
    ("myrinet-gm", OTHER, 32, 6.2),
    ("myrinet-gm", OTHER, 33, 6.2 + 33 / 443.9),
    ("poweredge-6650", SAME, 512, 10),
    ("poweredge-6650", SAME, 513, 10 + 513 / 600),
    ("sunfire-15k", SAME, 1000, 5 + 1000 / 550),
    ("opteron-myrinet", OTHER, 1000, 4.8425 + 1000 / 234),
    ("poweredge-ib", SAME, 1000, 2 + 1000 / 399),
    ("poweredge-ib", OTHER, 1000, 6.5348 + 1000 / 579.275),
    ("pentiumpro-ethernet", OTHER, 1000, 1200 + 1000 / 1.25),
    ("sci-torus", OTHER, 1000, 14.63 + 1000 / 255),
    ("gige-pair", OTHER, 1000, 54 + 1000 / 76.5),
]


@pytest.mark.parametrize(("machine", "placement", "size", "time_us"), CURVES)
def test_a_message_takes_what_was_published(
    machine: str, placement: str, size: int, time_us: float
) -> None:
    assert curve(machine, placement).time_s(size) == pytest.approx(time_us * 1e-6, rel=1e-9)


def test_every_machine_has_a_curve_by_hand() -> None:
    elsewhere = {"altix-bx2", "x1-ssp", "x1-msp"}
    assert {machine for machine, *_ in CURVES} | elsewhere == set(NAMES)


def test_rates_of_the_altix_by_distance() -> None:
    rates = {1: 1762, 2: 1264, 8: 1191, 32: 1097, 128: 1016, 256: 917}
    for distance, rate in rates.items():
        found = curve("altix-bx2", SAME if distance == 1 else OTHER, f"distance={distance}")
        latency_us = 1.25
        assert found.time_s(100000) == pytest.approx((latency_us + 100000 / rate) * 1e-6)
    assert len(catalogue.machine("altix-bx2").models) == len(rates)


@pytest.mark.parametrize(
    ("machine", "placement", "latency_us", "size", "rate"),
    [
        ("x1-ssp", SAME, 9, 2**20, 4231),
        ("x1-msp", SAME, 10.6, 2**20, 9400),
        ("altix-bx2", SAME, 1.25, 2 * 2**20, 1762 * (1 - 1.25 / 1191.5)),
        ("altix-bx2", SAME, 1.25, MIB_4, 1762 * 2 / 3),
        ("opteron-myrinet", SAME, 0.71, 128 * 1024, 900),
        ("opteron-myrinet", SAME, 0.71, 128 * 1024 + 1, 900),
        ("opteron-myrinet", SAME, 0.71, MIB_4, 670),
    ],
)
def test_curves_pass_through_rates_that_have_a_size(
    machine: str, placement: str, latency_us: float, size: int, rate: float
) -> None:
    found = curve(machine, placement, "distance=1" if machine == "altix-bx2" else "")
    assert found.time_s(0) == pytest.approx(latency_us * 1e-6)
    assert found.time_s(size) == pytest.approx(size / rate * 1e-6, rel=1e-4)


FORMULAS: list[tuple[str, str, int, int, float]] = [
    ("sp1-mpl", "one-to-many", 1000, 8, -9 + 28 * 8 + 0.114 * 8 * 1000),
    ("sp1-mpl", "one-to-many", 0, 32, -9 + 28 * 32),
    (
        *("sp1-mpl", "many-to-one", 100, 9),
        -26 + 40 * 3 + 7.6 * 9 + (0.128 + 0.161 * log2(9)) * 100,
    ),
    ("sp1-mpl", "many-to-many", 100, 2, 59 + 23.1),
    ("sp1-mpl", "many-to-many", 100, 16, 59 + 58 * 14 + (0.231 + 0.280 * 14) * 100),
    ("sp1-mpl", "bcast", 4096, 12, 21 + 25 * 3 + (0.117 + 0.118 * 3) * 4096),
    (
        *("sp1-mpl", "bcast", 4097, 12),
        48 * 12 + 1.2 * 144 + (0.115 + 0.139 * 3 - 0.02 * 9) * 4097,
    ),
    ("sp1-mpl", "allreduce", 216, 8, 9.5 + 82 * 3 + 0.40 * 3 * 216),
    ("sp1-mpl", "allreduce", 217, 8, 12 + 112 * 3 + 0.30 * 3 * 217),
    ("sp1-mpl", "allreduce", 4096, 8, 12 + 112 * 3 + 0.30 * 3 * 4096),
    ("sp1-mpl", "allreduce", 4097, 8, 160 + 162 * 8 + (-0.23 + 0.43 * sqrt(3)) * 4097),
    ("sp1-mpl", "barrier", 0, 12, 84 * log2(12)),
    ("sp2-mpl", "exchange", 4095, 2, 40 + 4095 / 28.4),
    ("sp2-mpl", "exchange", 4096, 2, -52 + 4096 / 16.2),
    ("sp2-mpl", "exchange", 16384, 2, -52 + 16384 / 16.2),
    ("sp2-mpl", "exchange", 16385, 2, 167 + 16385 / 20.7),
    ("sp2-mpl", "one-to-many", 1000, 8, -5.5 + 15.5 * 8 + 0.031 * 8 * 1000),
    ("sp2-mpl", "many-to-one", 1000, 8, 3 + 13.3 * 8 + 0.0285 * 8 * 1000),
    ("sp2-mpl", "many-to-many", 1000, 8, 43 + 40 * 6 + (0.057 + 0.062 * 6) * 1000),
    ("sp2-mpl", "bcast", 216, 12, 9.6 + 14 * 3 + (0.0083 + 0.015 * 3) * 216),
    ("sp2-mpl", "bcast", 217, 12, 6 + 12 * 3 + (0.025 + 0.026 * 3) * 217),
    ("sp2-mpl", "bcast as a whole", 216, 8, 23 + 27 * 3 + 216 * 3 / 23.5),
    ("sp2-mpl", "bcast as a whole", 217, 8, 23 + 27 * 3 + 217 * 3 / 22.6),
    ("sp2-mpl", "bcast as a whole", 2049, 12, 23 + 27 * log2(12) + 2049 * log2(12) / 29.3),
    ("sp2-mpl", "bcast as a whole", 65535, 8, 23 + 27 * 3 + 65535 * 3 / 29.3),
    ("sp2-mpl", "bcast as a whole", 65536, 8, 23 + 27 * 3 + 65536 * 3 / 36.2),
    ("sp2-mpl", "allreduce", 216, 12, 97 * 3 + 0.11 * 3 * 216),
    ("sp2-mpl", "allreduce", 217, 12, 114 * 3 + 0.12 * 3 * 217),
    ("sp2-mpl", "allreduce", 2048, 12, 114 * 3 + 0.12 * 3 * 2048),
    ("sp2-mpl", "allreduce", 2049, 12, -50 + 191 * 3 + 0.09 * 3 * 2049),
    ("sp2-mpl", "barrier", 0, 32, 84 * 5),
    ("sp2-pvme", "one-to-many", 8192, 8, 8 + 32 * 8 + (8 / 30 - 0.012) * 8192),
    ("sp2-pvme", "one-to-many", 8193, 8, 163 * 8 - 285 + 8 / 21.1 * 8193),
    ("sp2-pvme", "bcast", 8192, 4, 8 + 32 * 4 + (4 / 30 - 0.012) * 8192),
    ("sp2-pvme", "bcast", 8193, 4, 163 * 4 - 285 + 4 / 21.1 * 8193),
    ("sp2-pvme", "many-to-many", 1000, 2, 300 + 72),
    ("sp2-pvme", "many-to-many", 1000, 3, 600 + 1000 / 5.12),
    ("sp2-pvme", "many-to-many", 1000, 8, 300 + 750 * 6 + (0.072 + 6 / 4.8) * 1000),
    ("sp2-pvme", "barrier", 0, 16, 1470 + 377 * 4),
    ("spp1000-pvm", "one-to-many", 512, 4, 23 + 36 * 4 + 4 / 14.3 * 512),
    ("spp1000-pvm", "one-to-many", 513, 4, 33 + 64 * 4 + (4 / 26 - 0.008) * 513),
    ("spp1000-pvm", "one-to-many", 65536, 8, 33 + 64 * 8 + (8 / 26 - 0.008) * 65536),
    (
        *("spp1000-pvm", "one-to-many", 65537, 8),
        8 * 65537 / 20.4 - (3.9 + 3.3 * 8) * sqrt(65537),
    ),
    ("spp1000-pvm", "many-to-many", 1000, 4, 100 + 85 * 2 + 3 / 10 * 1000),
    ("spp1000-pvm", "bcast", 1000, 8, 52 + 8.4 * 8 + 1000 / 23),
    ("spp1000-pvm", "barrier", 0, 8, 39 + 0.465 * 512),
]


@pytest.mark.parametrize(("machine", "pattern", "size", "ranks", "time_us"), FORMULAS)
def test_a_pattern_takes_what_was_published(
    machine: str, pattern: str, size: int, ranks: int, time_us: float
) -> None:
    name, _, whole = pattern.partition(" ")
    ranks += name in ("one-to-many", "many-to-one")  # of these the study counts partners
    (found,) = [
        model
        for model in catalogue.machine(machine).patterns
        if model.pattern == name
        and model.covers(size, ranks)
        and ("as a whole" in model.what) == bool(whole)
    ]
    assert found.time_s(size, ranks) == pytest.approx(time_us * 1e-6, rel=1e-9)


def test_every_published_formula_is_tried() -> None:
    """Each pattern model is the one that covers some row of FORMULAS."""
    tried = set()
    for machine, pattern, size, ranks, _ in FORMULAS:
        name, _, whole = pattern.partition(" ")
        for place, model in enumerate(catalogue.machine(machine).patterns):
            same = model.pattern == name and ("as a whole" in model.what) == bool(whole)
            if same and model.covers(size, ranks):
                tried.add((machine, place))
    every = {(n, i) for n in NAMES for i in range(len(catalogue.machine(n).patterns))}
    assert every - tried == set()


def test_unscalable_patterns_end() -> None:
    models = [m for m in catalogue.machine("spp1000-pvm").patterns if m.pattern == "many-to-many"]
    assert [any(m.covers(8, ranks) for m in models) for ranks in (2, 4, 5)] == [True, True, False]
