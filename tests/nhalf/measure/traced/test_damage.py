"""Files of a trace that are cut off, damaged or of another version are named in one line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.facts.program.calls import most_expensive
from nhalf.facts.program.program import Program
from nhalf.measure.traced import layout
from nhalf.measure.traced.collect import collect
from nhalf.present.program.answer import program_json
from tests.nhalf.measure.traced.programs import CASES, built, nhalf, traced

pytestmark = pytest.mark.skipif(not CASES, reason="no MPI library here")
Change = Callable[[bytes], bytes]
CELLS_AT = layout.SITES_AT + layout.SITES * layout.SITE_BYTES
STEADY = 96
"""Where a file of counts has the moments on the clock that nobody sets."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Path:
    """A trace of two ranks with a timeline."""
    library, compiler = CASES[0]
    folder = tmp_path_factory.mktemp("damage") / "trace"
    program = built(library, compiler, "ring.cpp", programs)
    traced(library, folder, 2, [str(program)], "--detail", "timeline")
    return folder


def damaged(whole: Path, folder: Path, name: str, change: Change) -> Path:
    """A copy in which one file is another."""
    copied = Path(shutil.copytree(whole, folder / "trace"))
    file = next(iter(sorted(copied.rglob(name))))
    file.write_bytes(change(file.read_bytes()))
    return copied


def cut(to_bytes: int) -> Change:
    return lambda content: content[:to_bytes]


def spoilt(content: bytes) -> bytes:
    """As long as it was, with bytes in it that no such file has."""
    third = len(content.rstrip(b"\0")) // 3
    return content[:third] + b"\xff" * 200 + content[third + 200 :]


def with_spoilt_pages(content: bytes) -> bytes:
    """A table whose description at its end, of which the last bytes tell the length, is whole."""
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:4] + b"\xff" * (end - 4) + content[end:]


def steady(content: bytes, both: bytes) -> bytes:
    """With other moments on the clock that nobody sets: those of the first and the last look."""
    return content[:STEADY] + both + content[STEADY + len(both) :]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("*.counts", cut(5000), "is cut off or damaged"),
        ("*.counts", cut(73800), "lacks some of its"),
        ("*.counts", lambda content: content[:8] + b"\x09\0\0\0" + content[12:],
         "has version 9; this nhalf reads up to 6"),
        ("*.timeline", lambda content: b"\xff" * len(content), "timeline is damaged"),
        ("*-*.json", spoilt, "is damaged"),
        ("*-*.json", lambda content: content.replace(b'"version":6', b'"version":9'),
         "has version 9; this nhalf reads up to 6"),
        ("*.counts", lambda content: steady(content, b"\xff" * 8 + bytes(8)),
         "do not agree"),
        ("started.json", cut(50), "is damaged"),
    ],
)  # fmt: skip
def test_what_ranks_wrote(
    whole: Path, tmp_path: Path, name: str, change: Change, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        collect(damaged(whole, tmp_path, name, change))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("version", [1, 2])
def test_files_of_former_versions_are_read(whole: Path, tmp_path: Path, version: int) -> None:
    """They have no call sites. The first has the clock of the day alone, by which a tick is as long
    if nobody sets it.
    """

    def former(content: bytes) -> bytes:
        thread = np.frombuffer(content, layout.CELL, offset=CELLS_AT)
        cells = thread[(thread["call_and_kind"] & 15) != layout.AT_SITE]
        head = np.frombuffer(content, layout.HEAD, 1).copy()
        head["version"], head["cells"] = version, np.count_nonzero(cells["count"])
        for name in ("sites", "used_ns", "off_ns", "queued_ns"):
            head[name] = 0
        begin = head.tobytes() + content[layout.HEAD.itemsize : layout.SITES_AT]
        old = begin + cells[cells["count"] > 0].tobytes()
        return steady(old, bytes(16)) if version == 1 else old

    copied = damaged(
        whole, tmp_path, "*-*.json", lambda content: content.replace(b'n":3', b'n":%d' % version)
    )
    for file in copied.rglob("*.counts"):
        file.write_bytes(former(file.read_bytes()))
    for file in copied.rglob("*.timeline"):
        records = np.fromfile(file, layout.RECORD)
        records["site"] = 0
        file.write_bytes(records.tobytes())
    found, read = Program.open(whole), Program.open(collect(copied).path)
    assert [one.end_s for one in read.trace.ranks] == pytest.approx(
        [one.end_s for one in found.trace.ranks], rel=0.05
    )
    keys = ["rank", "call", "partner", "size_bytes", "count"]
    assert read.calls.select(keys).sort(keys).equals(found.calls.select(keys).sort(keys))
    assert read.call_sites.is_empty()
    assert set(read.timeline["site"]) == {-1}
    assert not most_expensive(read).is_empty()


def test_traces_from_before_call_sites_are_shown(whole: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(whole, tmp_path / "trace"))
    for name in ("sites", "call_sites", "off_processor"):
        (copied / f"{name}.parquet").unlink()
    timeline = pl.read_parquet(copied / "timeline.parquet")
    timeline.drop("site").write_parquet(copied / "timeline.parquet")
    read = Program.open(copied)
    assert set(read.timeline["site"]) == {-1}
    assert set(most_expensive(read)["place"]) == {""}
    assert program_json(read)["call_sites"] == []


@pytest.mark.parametrize("name", ["calls", "bins", "timeline", "communicators"])
@pytest.mark.parametrize("change", [cut(0), cut(1000), lambda content: bytes(len(content))])
def test_tables(whole: Path, tmp_path: Path, name: str, change: Change) -> None:
    with pytest.raises(InputError, match=rf"{name}.parquet is damaged"):
        Program.open(damaged(whole, tmp_path, f"{name}.parquet", change))


def test_tables_whose_pages_are_spoilt(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"bins.parquet is damaged"):
        Program.open(damaged(whole, tmp_path, "bins.parquet", with_spoilt_pages))


def test_descriptions(whole: Path, tmp_path: Path) -> None:
    copied = damaged(whole, tmp_path, "trace.json", lambda content: content[:-20])
    with pytest.raises(InputError, match=r"trace.json is damaged"):
        Program.open(copied)
    (copied / "trace.json").write_text('{"version": 2}')
    with pytest.raises(InputError, match="has version 2; this nhalf reads version 1"):
        Program.open(copied)


def test_a_process_that_was_ended_before_it_said_who_it_is(whole: Path, tmp_path: Path) -> None:
    found = collect(damaged(whole, tmp_path, "*-*.json", cut(100)))
    assert len(found.trace.ranks) == 1
    assert not found.trace.complete
    assert found.trace.notes[0].startswith("nothing is known of rank ")


def test_a_timeline_that_is_cut_says_so(whole: Path, tmp_path: Path) -> None:
    found = collect(damaged(whole, tmp_path, "*.timeline", cut(1000)))
    read, tables = Program.open(whole), ("timeline", "off_processor")
    lacking = sum(len(getattr(read, name)) - len(found.rows(name)) for name in tables)
    rank = found.trace.ranks[0].rank if "rank 0" in found.trace.notes[0] else 1
    assert found.trace.notes == [
        f"the timeline of rank {rank} lacks {lacking} records: its file is cut off"
    ]


def test_the_command_says_it_in_one_line(whole: Path, tmp_path: Path) -> None:
    folder = damaged(whole, tmp_path, "*.counts", cut(5000))
    outcome = nhalf(CASES[0][0], "--collect", str(folder))
    assert outcome.exit_code == 2
    assert len(outcome.stderr.splitlines()) == 1
