# SPDX-License-Identifier: Apache-2.0
"""Shared memory of killed ranks is removed; that of others, and what is in use, is not."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nhalf.measure.probe import segments_left
from nhalf.measure.probe.segments_left import SegmentsLeft

OF_LIBRARIES = (
    "mpich_shm_1418c0cd_0",
    "Intel_MPI_zomd8c",
    "vader_segment.vm.0.35e20001.1",
    "sm_segment.node-7.1000.5fe70001.0",
    "ucx_shm_posix_7fa2",
    "25318:0:0",
)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments_left, "PATIENCE_S", 0.2)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "mpich_shm_before_0").touch()
    yield tmp_path


@pytest.mark.parametrize("name", OF_LIBRARIES)
def test_what_a_library_left_goes(folder: Path, name: str) -> None:
    left = SegmentsLeft(folder)
    (folder / name).write_bytes(bytes(64))
    left.remove()
    assert os.listdir(folder) == ["mpich_shm_before_0"]
    left.remove()


def test_files_of_other_programs_stay(folder: Path) -> None:
    left = SegmentsLeft(folder)
    for name in ("sem.mine", "mpich_shm", "25318:0", "results.25318:0:0"):
        (folder / name).touch()
    left.remove()
    assert len(os.listdir(folder)) == 5


def test_what_a_process_has_open_or_mapped_stays(folder: Path) -> None:
    left = SegmentsLeft(folder)
    opened, mapped = (folder / name for name in OF_LIBRARIES[:2])
    mapped.write_bytes(bytes(mmap.PAGESIZE))
    descriptor = os.open(mapped, os.O_RDWR)
    memory = mmap.mmap(descriptor, mmap.PAGESIZE)
    os.close(descriptor)
    with opened.open("wb"):
        left.remove()
        assert opened.exists()
        assert mapped.exists()
    memory.close()
    left.remove()
    assert os.listdir(folder) == ["mpich_shm_before_0"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files of other users")
def test_files_of_other_users_stay(folder: Path) -> None:
    left = SegmentsLeft(folder)
    path = folder / OF_LIBRARIES[0]
    path.touch()
    os.chown(path, 65534, 65534)
    left.remove()
    assert path.exists()


def test_a_folder_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    SegmentsLeft(tmp_path / "none").remove()


def test_links_and_folders_of_such_a_name_stay(folder: Path) -> None:
    left = SegmentsLeft(folder)
    kept = folder / "results"
    kept.touch()
    link, below = (folder / name for name in OF_LIBRARIES[:2])
    link.symlink_to(kept)
    below.mkdir()
    left.remove()
    assert link.is_symlink() and kept.exists() and below.is_dir()
