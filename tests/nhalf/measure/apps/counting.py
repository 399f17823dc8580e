# SPDX-License-Identifier: Apache-2.0
"""What every rank of a kernel sends, counted beneath it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import Subject
from nhalf.sites.placement import FREE
from tests.patience import patience_s

Traffic = Counter[tuple[str, int, int]]
"""By name of the call, partner (-1 for none) and bytes: how often."""


def counted(
    subject: Subject, counter: Path, kernel: str, ranks: int, class_: str = "S"
) -> list[Traffic]:
    """What every rank sent in a whole run."""
    command, environment = subject.launch(ranks, FREE, "")
    files = counter.parent / f"{kernel}-{class_}-{ranks}"
    environment = {**environment, "LD_PRELOAD": str(counter), "NHALF_COUNTS": str(files)}
    with Probe(command, environment, patience_s(60)) as probe:
        probe.send(f"id=1 pattern=npb-{kernel} samples_max=1 axis.class={class_}")
        assert probe.receive(patience_s(300), identity="1")["verified"]
    return [read(files.with_name(f"{files.name}.{rank}")) for rank in range(ranks)]


def read(path: Path) -> Traffic:
    found: Traffic = Counter()
    for line in path.read_text().splitlines():
        name, peer, size_bytes, times = line.split()
        found[name, int(peer), int(size_bytes)] = int(times)
    return found


def collectives(found: Traffic) -> dict[tuple[str, int], int]:
    return {(name, size): times for (name, _, size), times in found.items() if name != "send"}


def sends(found: Traffic) -> Traffic:
    return Counter({key: times for key, times in found.items() if key[0] == "send"})


def sends_of_cg(rank: int, ranks: int) -> Traffic:
    """What a rank of CG sends in class S: butterflies along rows of ranks, and a transpose."""
    times = 15 + 1
    bits = ranks.bit_length() - 1
    columns, rows = 1 << (bits + 1) // 2, 1 << bits // 2
    vector_bytes = 8 * 1400 // columns
    expected: Traffic = Counter()
    for step in range(columns.bit_length() - 1):
        expected["send", rank ^ (1 << step), 8] += 52 * times
        expected["send", rank ^ (1 << step), 16] += times
        expected["send", rank ^ (1 << step), vector_bytes] += 26 * times
    half, odd = (rank // 2, rank % 2) if columns != rows else (rank, 0)
    mirror = half % rows * rows + half // rows
    mirror = 2 * mirror + odd if columns != rows else mirror
    expected["send", mirror, vector_bytes] += 26 * times
    return expected
