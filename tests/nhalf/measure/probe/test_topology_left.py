# SPDX-License-Identifier: Apache-2.0
"""Files that a killed Hydra leaves in /tmp."""

from __future__ import annotations

import os
import time
from pathlib import Path

from nhalf.measure.probe.topology_left import TopologyLeft


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


def test_a_file_that_a_living_proxy_may_have_written_stays(tmp_path: Path) -> None:
    left = TopologyLeft(tmp_path)
    own = _file(tmp_path, "AbC123")
    left.remove([time.time() - 5])
    assert own.exists()
    # One that was started later did not write it.
    left.remove([time.time() + 5])
    assert not own.exists()


def test_no_folder_is_nothing_to_remove(tmp_path: Path) -> None:
    TopologyLeft(tmp_path / "none").remove()
