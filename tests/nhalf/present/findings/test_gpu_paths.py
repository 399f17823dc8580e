"""The path of messages from GPU memory, with its witness: what UCX said, or a rate."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import asdict

from nhalf.facts.facts import Facts
from nhalf.facts.gpu import slopes
from nhalf.mpi.ucx_paths import paths
from nhalf.present.findings.node import GpuPaths
from nhalf.store.record import event
from nhalf.store.run import Run
from tests.nhalf.facts.test_node import record

TABLE = Path(__file__).parents[3] / "data/ucx_proto_info.txt"
MIB = 1 << 20


def facts_of(
    folder: Path, message_s: float, advice: list[str], size_bytes: int = MIB, copies: int = 2
) -> Facts:
    """Copies out of and into a GPU at 1 and 2 GB/s, and messages between two GPUs."""
    run = Run.create(folder / "run", {"titles": {"gpu": "GPU", "mpich": "MPICH"}})
    with run.journal() as journal:
        for memory, rate_Bps in [("memory=device-pinned", 1e9), ("", 2e9)][:copies]:
            for launch in range(5):
                point = record(
                    0, "gpu-copy", MIB, transport="gpu", launch=launch, bytes_per_time=MIB,
                    axes=memory, samples_s=[MIB / rate_Bps] * 5,
                )  # fmt: skip
                journal.append(event("point", "gpu", point))
        for launch in range(5):
            point = record(
                1, "pingpong", size_bytes, transport="mpi", mpi="mpich", ranks=2, launch=launch,
                bytes_per_time=size_bytes, axes="memory=device", samples_s=[message_s] * 5,
                advice=advice,
            )  # fmt: skip
            journal.append(event("point", "mpich", point))
        lines = TABLE.read_text("utf-8").splitlines()
        trial = {"event": "gpu-paths", "subject": "mpich", "paths": list(map(asdict, paths(lines)))}
        journal.append(trial)
        journal.append(trial)
    run.finish()
    return Facts.of([run])


@pytest.mark.parametrize(
    ("share", "verdict"), [(1.0, "staged"), (1.1, "staged"), (1.8, "faster"), (1.4, ""), (0.5, "")]
)
def test_a_rate_tells_staging_where_it_can(tmp_path: Path, share: float, verdict: str) -> None:
    staged_Bps = 1 / (1 / 1e9 + 1 / 2e9)
    (slope,) = slopes(facts_of(tmp_path, MIB / (share * staged_Bps), []))
    assert slope.staged_Bps == pytest.approx(staged_Bps)
    assert slope.rate_Bps == pytest.approx(share * staged_Bps)
    assert slope.verdict == verdict


def test_what_tells_nothing_is_left_out(tmp_path: Path) -> None:
    """Ranks in time slices, short messages, and copies of one direction alone."""
    for number, facts in enumerate(
        (
            facts_of(tmp_path / "shared", 1e-3, ["shared-gpu"]),
            facts_of(tmp_path / "short", 1e-6, [], size_bytes=8),
            facts_of(tmp_path / "one", 1e-3, [], copies=1),
        )
    ):
        assert slopes(facts) == [], number


def test_findings_name_the_path_and_its_witness(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, MIB * 1.5e-9, [])
    printed, slope = GpuPaths().find(facts)
    assert printed.text == (
        "MPICH sends messages from GPU memory of 0 B to 512 KiB through memory of the host "
        "(rendezvous cuda_copy, frag host, sysv/memory); 512 KiB and more from GPU to GPU by "
        "memory that the driver shares (IPC) (rendezvous zero-copy read from remote, "
        "cuda_ipc/cuda), as UCX said when they were tried."
    )
    assert (printed.figure, slope.figure) == ("ipc", "staged")
    assert "one after the other: it stages there (667 MB/s by the copies" in slope.text
