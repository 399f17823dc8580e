# SPDX-License-Identifier: Apache-2.0
"""Machine files as the virtual network reads them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.machines import catalogue
from nhalf.machines.curve import time_at_s
from nhalf.machines.message import Messages
from nhalf.measure.virtual.wires import description, nodes_of

SIZES = [0, 1, 216, 217, 2048, 2049, 65535, 65536, 1 << 20, 1 << 21, (1 << 21) + 1, 1 << 22]


def wires(text: str) -> dict[int, list[list[int]]]:
    """The numbers of every wire and its parts by distance, the last wire of each distance."""
    read: dict[int, list[list[int]]] = {}
    for line in text.splitlines():
        name, *numbers = line.split()
        values = [int(number) for number in numbers if name in ("wire", "part")]
        if name == "wire":
            wire = read[values[0]] = [values[1:]]
        elif name == "part":
            wire.append(values)
    return read


def time_ps(wire: list[list[int]], size_bytes: int) -> float:
    """What native/fabric/wires.hpp computes."""
    part = [part for part in wire[1:] if part[0] <= size_bytes][-1]
    return part[1] + (part[2] * size_bytes + part[3] * math.sqrt(size_bytes)) / 1e6


@pytest.mark.parametrize("name", catalogue.names())
def test_every_machine_of_record_has_the_times_of_its_curves(name: str) -> None:
    machine = catalogue.machine(name)
    for library in Messages(machine).libraries:
        messages = Messages(machine, library if len(Messages(machine).libraries) > 1 else "")
        read = wires(description(messages, [0, 1]))
        for distance, curve in [(0, messages.within_node), *messages.between_nodes]:
            for size in SIZES:
                if size < curve.segments[0].from_bytes or size > curve.segments[-1].to_bytes:
                    continue
                expected = time_at_s(curve, size) * 1e12
                assert time_ps(read[distance], size) == pytest.approx(expected, abs=5, rel=1e-9)


def test_overheads_are_a_quarter_of_the_shortest_message_unless_known(plain: Path) -> None:
    read = wires(description(Messages(catalogue.machine(plain)), [0, 1]))
    assert read[0][0] == [500_000, 500_000, 0]
    assert read[1][0] == [1_500_000, 2_500_000, 3_000_000]


def test_ranks_fill_node_after_node_or_as_asked(plain: Path) -> None:
    machine = catalogue.machine(plain)
    assert nodes_of(machine, 5, "") == [0, 0, 1, 1, 2]
    assert nodes_of(machine, 1, "") == [0]
    assert nodes_of(machine, 4, "4x1") == [0, 1, 2, 3]
    assert nodes_of(machine, 4, "2x2:cyclic") == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("name", "ranks", "placement", "words"),
    [
        ("sp2-mpl", 33, "", "holds 32 ranks, not 33"),
        ("sp2-mpl", 4, "2x2", "ranks per node of sp2-mpl: at most 1, not 2"),
        ("sp2-mpl", 4, "other", "is not a placement"),
        ("sp2-mpl", 4, "3x1", "3x1 holds 3 ranks, but --ranks is 4"),
        ("altix-bx2", 300, "300x1", "has 256 nodes, not 300"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, ranks: int, placement: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        nodes_of(catalogue.machine(name), ranks, placement)
