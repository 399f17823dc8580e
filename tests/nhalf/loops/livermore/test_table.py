"""Kernels that record their instructions, followed on a known core."""

from __future__ import annotations

import platform
import shutil

import pytest
from msgspec.structs import replace

from nhalf.loops.builds import Build
from nhalf.loops.livermore.corpus import sources
from nhalf.loops.livermore.table import executed_cycles
from nhalf.loops.rungs import READABLE, listing
from tests.nhalf.loops.schedule.test_core import PROCESSOR

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(
        shutil.which("gcc") is None or platform.machine() not in READABLE,
        reason="needs gcc on x86-64",
    ),
]


def test_chains_of_kernels_are_followed() -> None:
    build = Build("gcc", ("-O2",))
    texts = {
        number: listing(build.compiler, build.level, source)
        for number, source in enumerate(sources(), 1)
    }
    # Few under way at a time, so that passes hardly overlap.
    small = replace(PROCESSOR, reorder_buffer_instructions=64)
    found = dict(executed_cycles(build, texts, small, texts))
    assert sorted(found) == list(range(1, 25))
    # Additions that wait for each other; a product and a difference; a quotient is the least.
    assert found[3] == pytest.approx(2, rel=0.15)
    assert found[5] == pytest.approx(5, rel=0.15)
    assert found[11] == pytest.approx(2, rel=0.15)
    assert found[20] > 2 * 14
