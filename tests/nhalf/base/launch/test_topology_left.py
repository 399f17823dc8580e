"""Files that a killed Hydra leaves in /tmp."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from nhalf.base.launch.left_behind import TopologyLeft


def _file(folder: Path, end: str, age_s: float = 0.0) -> Path:
    path = folder / f"hydra_hwloc_xmlfile_{end}"
    path.write_text("<topology/>")
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def test_a_file_of_the_launch_goes(tmp_path: Path) -> None:
    older = _file(tmp_path, "before", 60)
    left = TopologyLeft(tmp_path)
    own, another = _file(tmp_path, "AbC1_x"), tmp_path / "hydra_hwloc_xmlfile_longer_name"
    another.write_text("")
    left.remove([])
    assert not own.exists()
    assert older.exists()
    assert another.exists()


def test_a_file_that_a_living_proxy_may_have_written_stays_until_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept_s: list[float] = []
    monkeypatch.setattr(time, "sleep", slept_s.append)
    left = TopologyLeft(tmp_path, began_s=time.time() - 60)
    for number, age_s in enumerate((0.0, 0.3, 5.0)):
        _file(tmp_path, f"AbC12{number}", age_s)
    left.remove([time.time() - 10])
    assert os.listdir(tmp_path) == []
    assert sorted(slept_s) == pytest.approx([0, 0.7, 1], abs=0.2)
    # A proxy that was started later did not write it.
    _file(tmp_path, "AbC123")
    left.remove([time.time() + 5])
    assert os.listdir(tmp_path) == []
    assert len(slept_s) == 3


def test_no_folder_is_nothing_to_remove(tmp_path: Path) -> None:
    TopologyLeft(tmp_path / "none").remove()
