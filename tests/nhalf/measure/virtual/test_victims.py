"""An operation beside congestors on a network that is shared fairly, by an unchanged library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.traffic import congested
from nhalf.present.findings.traffic import Congestion
from nhalf.store.run import Run
from tests.nhalf.measure.virtual.programs import library_of


def test_an_adapter_that_an_incast_fills_is_halved(
    call: Callable[..., Any], tmp_path: Path
) -> None:
    words = ("--pattern", "victim", "--ranks", 8, "--placement", "4x2", "--bytes", "8,64K")
    axes = ("--axis", "load=none,incast", "--axis", "load_bytes=64K", "--axis", "of=ring")
    library = library_of("mpich").name
    ended = call(
        "run", "--machine", "myrinet-gm", "--mpi", library, *words, *axes, "--out", tmp_path / "run"
    )
    assert ended.code == 0, ended.err
    facts = Facts.of([Run.open(tmp_path / "run")])
    small, large = congested(facts)
    # What is shared is bytes per second, so that a message of 8 B is as soon there as in quiet.
    assert (small.size_bytes, large.size_bytes) == (8, 65536)
    assert small.ratio.median == pytest.approx(1, rel=1e-6)
    # Where all others send to, half of the bandwidth is left; latency and overheads stay.
    assert 1.9 < large.ratio.median < 2
    assert large.ratio.low == large.ratio.high
    [finding] = Congestion().find(facts)
    assert "ring of 64 KiB takes 1.9" in finding.text
    assert "interval" not in finding.text
