"""Shared memory of killed ranks is removed; that of others, and what is in use, is not."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nhalf.base import open_files
from nhalf.base.launch import left_behind
from nhalf.base.launch.left_behind import SegmentsLeft

OF_LIBRARIES = (
    "mpich_shm_1418c0cd_0",
    "mpich_vci_1418c0cd_1",
    "mpich_shar_tmppC83bL",
    "shm-col-space-1a2b",
    "Intel_MPI_zomd8c",
    "vader_segment.vm.0.35e20001.1",
    "sm_segment.node-7.1000.5fe70001.0",
    "open_mpi.0000",
    "osc_sm.node-7.63bf0001.3.1",
    "osc_rdma.node-7.63bf0001.3",
    "ib_shmem-kvs_1-node-7-1000.tmp",
    "psm2_shm.1000.a0b1",
    "pmix-gds-shmem2.node-prterun-7@1.jobdata.3272",
    "fi_shm_7_1",
    "ucx_shm_posix_7fa2",
    "25318:0:0",
)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_behind, "PATIENCE_S", 0.2)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "mpich_shm_before_0").touch()
    yield tmp_path


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", OF_LIBRARIES)
def test_what_a_library_left_goes(folder: Path, name: str) -> None:
    left = SegmentsLeft(folder)
    (folder / name).write_bytes(bytes(64))
    left.remove()
    assert os.listdir(folder) == ["mpich_shm_before_0"]
    left.remove()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", OF_LIBRARIES)
def test_where_processes_may_be_hidden_only_that_of_ranks_goes(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "is_first_namespace", lambda: False)
    left = SegmentsLeft(folder)
    own, other = folder / name, folder / "sm_segment.another.1"
    other.touch()
    with own.open("wb"):
        left.look([os.getpid()])
        left.remove()
        assert own.exists()
    left.remove()
    assert not own.exists() and other.exists()


def test_a_segment_is_seen_while_a_process_maps_and_closes_it(tmp_path: Path) -> None:
    segment = tmp_path / OF_LIBRARIES[0]
    segment.write_bytes(bytes(mmap.PAGESIZE))
    with segment.open("r+b") as file:
        look = open_files.files_of(os.getpid())
        seen = [next(look)]
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        # Python's own mmap keeps a descriptor.
        address = libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
    seen += look
    libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE))
    assert str(segment) in seen


def test_what_hidden_processes_use_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a process that shows its files to nobody, or is in another namespace, the kernel knows."""
    hidden = open_files.FilesInUse(frozenset(), is_all=True)
    monkeypatch.setattr(left_behind, "files_in_use", lambda: hidden)
    left = SegmentsLeft(folder)
    opened, mapped = (folder / name for name in OF_LIBRARIES[:2])
    mapped.write_bytes(bytes(mmap.PAGESIZE))
    with mapped.open("r+b") as file:
        memory = mmap.mmap(file.fileno(), mmap.PAGESIZE)
    with opened.open("wb"):
        left.remove()
        assert opened.exists() and mapped.exists()
    memory.close()
    left.remove()
    assert os.listdir(folder) == ["mpich_shm_before_0"]


USING = """
import mmap, sys, time
with open(sys.argv[1], "w+b") as file:
    file.truncate(4096)
    memory = mmap.mmap(file.fileno(), 4096)
print(flush=True)
time.sleep(1000)
"""
REMOVING = """
import sys
from pathlib import Path
from nhalf.base.launch.left_behind import SegmentsLeft
left = SegmentsLeft(Path(sys.argv[1]))
print(flush=True)
sys.stdin.readline()
left.remove()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces")
@pytest.mark.parametrize("inside", ["removing", "using"])
def test_memory_used_in_another_namespace_of_processes_stays(tmp_path: Path, inside: str) -> None:
    own = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if subprocess.run([*own, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("namespaces cannot be made here")
    around = {inside: own, **{name: [] for name in {"removing", "using"} - {inside}}}
    segment = tmp_path / "sm_segment.vm.0.deadbeef.0"
    python = [sys.executable, "-c"]
    with subprocess.Popen(
        [*around["removing"], *python, REMOVING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as removing:
        assert removing.stdin is not None and removing.stdout is not None
        removing.stdout.readline()
        with subprocess.Popen(
            [*around["using"], *python, USING, str(segment)], stdout=subprocess.PIPE
        ) as using:
            assert using.stdout is not None
            using.stdout.readline()
            removing.communicate(b"\n")
            assert removing.returncode == 0 and segment.exists()
            using.kill()


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
