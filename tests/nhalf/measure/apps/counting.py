"""What every rank of a kernel sends, counted beneath it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import Subject
from nhalf.models.npb.traffic import Traffic
from nhalf.sites.placement import FREE
from tests.patience import patience_s


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
