"""How computing counts in virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from nhalf.base.errors import InputError
from nhalf.cli.virtual_side import computing_ratio
from nhalf.machines.processor_file import processor
from nhalf.node.described import is_here, keep_here


@pytest.mark.parametrize(("text", "factor"), [("none", 0.0), ("measured:2.5", 2.5)])
def test_a_factor_is_sure(text: str, factor: float) -> None:
    ratio = computing_ratio(text)
    assert (ratio.low, ratio.mean_ratio, ratio.high) == (factor, factor, factor)


@pytest.mark.parametrize("text", ["", "measured:0", "measured:1001", "power9"])
def test_what_is_no_way_to_count_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a way to count computing"):
        computing_ratio(text)


def test_a_processor_is_known_as_far_as_its_rates_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("platform.node", lambda: "node1")
    assert not is_here({"node1"})
    old = processor("power2")
    faster = [replace(one, per_cycle=8.0) if one.name == "load" else one for one in old.operations]
    keep_here(replace(old, clock_hz=10 * old.clock_hz, operations=tuple(faster)))
    assert is_here({"node1"})
    assert not is_here({"node1", "node2"})
    ratio = computing_ratio("power2")
    assert (ratio.low, ratio.high) == pytest.approx((10.0, 40.0))
    assert "(10.0 to 40.0 by arithmetic, loads" in capsys.readouterr().err
