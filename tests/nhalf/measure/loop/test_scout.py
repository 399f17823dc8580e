"""The sizes that are found where a curve changes."""

from __future__ import annotations

from pathlib import Path

from tests.nhalf.measure.loop.fakes import Fake, Go, measured, starts

NAMES = ("jumping", "smooth")


def test_refined_sizes_are_kept_for_resuming(fake: Fake, go: Go, tmp_path: Path) -> None:
    jumping = fake(each="n = n + 10**4 if n > 100 else n")
    _, events = go(jumping, bytes="0:1K", launches=1)
    (sizes,) = [e["sizes"] for e in events if e["event"] == "sizes"]
    low = max(n for n in sizes if n <= 100)
    high = min(n for n in sizes if n > 100)
    assert high <= low * 1.05
    assert sorted(n for _, _, n in measured(events)) == sizes
    before = starts(tmp_path)
    go(jumping, bytes="0:1K", launches=1)
    assert starts(tmp_path) == before


def test_libraries_share_the_sizes_that_any_of_them_found(fake: Fake, go: Go) -> None:
    jumping = fake("jumping", each="n = n + 10**4 if n > 100 else n")
    _, events = go(jumping, fake("smooth"), bytes="0:1K", launches=1)
    sizes = {name: {n for key, _, n in measured(events) if key == name} for name in NAMES}
    assert sizes["jumping"] == sizes["smooth"]
    assert len(sizes["smooth"]) > len([0, *(2**k for k in range(11))])
