"""A trace as an archive of OTF2, read again by OTF2's own library."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.exchange.exporters.otf2 import Otf2
from nhalf.facts.program.operations import operation
from tests.nhalf.exchange.program.test_program_exports import example
from tests.nhalf.traced_programs import program, stored
from tests.server import Ended

RANKS = 3


@pytest.fixture(scope="module")
def otf2() -> Any:
    """OTF2's library."""
    return pytest.importorskip("otf2", reason="OTF2's library has no wheel for this Python")


def named(otf2: Any, events: list[tuple[Any, Any]], kind: str) -> list[tuple[str, Any]]:
    """The locations and events of one kind."""
    wanted = getattr(otf2.events, kind)
    return [(where.name, one) for where, one in events if isinstance(one, wanted)]


def test_every_call_is_a_region_and_every_message_has_both_ends(otf2: Any, tmp_path: Path) -> None:
    made = example(RANKS)
    Otf2().write(made, tmp_path / "archive")
    with otf2.reader.open(str(tmp_path / "archive/traces.otf2")) as archive:
        events = list(archive.events)
        places = [where.name for where in archive.definitions.locations]
    assert places == [f"rank {rank}" for rank in range(RANKS)]
    assert all(before[1].time <= after[1].time for before, after in itertools.pairwise(events))
    calls = list(made.timeline.iter_rows(named=True))
    bounds = [(f"rank {rank}", f"MPI_{name}") for rank in range(3) for name in ("Init", "Finalize")]
    for kind in ("Enter", "Leave"):
        found = [(where, one.region.name) for where, one in named(otf2, events, kind)]
        expected = [(f"rank {row['rank']}", row["call"]) for row in calls]
        assert sorted(found) == sorted(expected + bounds)
    sent = [(where, one.receiver, one.msg_tag, one.msg_length, one.time)
            for where, one in named(otf2, events, "MpiSend")]  # fmt: skip
    received = [(where, one.sender, one.msg_tag, one.msg_length, one.time)
                for where, one in named(otf2, events, "MpiIrecv")]  # fmt: skip
    assert sorted(sent) == [(f"rank {r}", (r + 1) % RANKS, 3, 100, 200_000_000) for r in range(3)]
    assert sorted(received) == [
        (f"rank {r}", (r - 1) % RANKS, 3, 100, 500_000_000) for r in range(3)
    ]
    ends = named(otf2, events, "MpiCollectiveEnd")
    roots = {str(one.collective_op).partition(".")[2].lower(): one.root for _, one in ends}
    collective = {operation(row["call"]) for row in calls if row["kind"] == "collective"}
    assert set(roots) == collective
    assert {name for name, root in roots.items() if root == 1} == {
        "bcast", "reduce", "gather", "scatter"
    }  # fmt: skip


def test_what_cannot_be_written_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[..., Ended]
) -> None:
    monkeypatch.setitem(sys.modules, "otf2", None)
    with pytest.raises(MissingError, match="no module otf2"):
        Otf2().write(example(2), tmp_path / "none")
    monkeypatch.setitem(sys.modules, "otf2", sys)
    with pytest.raises(InputError, match="counts only"):
        Otf2().write(program(2, [{"call": "MPI_Send"}]), tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="not empty"):
        Otf2().write(example(2), tmp_path)
    run_folder = stored(example(2), tmp_path / "trace")
    call("export", run_folder, "--to", "otf2").is_error(2, "name it with --out")
