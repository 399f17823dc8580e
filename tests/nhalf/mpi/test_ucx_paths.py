"""What UCX prints of its paths, read; written for this test in the form that UCX prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.mpi.ucx_paths import DIRECT, IPC, STAGED, UNNAMED, UcxPath, paths

TABLE = Path(__file__).parents[2] / "data/ucx_proto_info.txt"


def test_paths_from_gpu_memory_by_size() -> None:
    read = paths(TABLE.read_text("utf-8").splitlines() * 2)
    assert [(path.low_bytes, path.high_bytes, path.kind) for path in read] == [
        (0, 0, STAGED),
        (1, 8184, STAGED),
        (8185, 512 << 10, STAGED),
        ((512 << 10) + 1, None, IPC),
    ]
    assert {path.memory for path in read} == {"cuda"}
    assert read[-1].protocol == "rendezvous zero-copy read from remote"
    assert read[-1].lanes == "cuda_ipc/cuda"
    assert read[-1].sizes == "512 KiB and more"


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["| 0..inf | eager short | sysv/memory |"],
        ["| a | tagged message by ucp_tag_send* from host memory |", "| 0..inf | x | y |"],
        ["| x | tagged message by ucp_tag_send* from cuda memory |", "+---+", "nonsense | 5"],
        ["|" * 500, "| | |", "|..|x|y|", '{"nhalf":"point"}'],
    ],
)
def test_lines_without_such_a_path(lines: list[str]) -> None:
    assert paths(lines) == []


@pytest.mark.parametrize(
    ("protocol", "lanes", "kind"),
    [
        ("rendezvous zero-copy read from remote", "rc_mlx5/mlx5_0:1", DIRECT),
        ("rendezvous zero-copy read from remote", "cuda_ipc/cuda", IPC),
        ("multi-frag eager copy-in copy-out", "tcp/eth0", STAGED),
        ("software emulation", "tcp/eth0", UNNAMED),
    ],
)
def test_kinds_of_paths(protocol: str, lanes: str, kind: str) -> None:
    path = UcxPath(memory="cuda", low_bytes=1, high_bytes=8, protocol=protocol, lanes=lanes)
    assert path.kind == kind
    assert path.sizes == "1 B to 8 B"
