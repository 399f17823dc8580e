"""Content that is nested without end is a damaged file, wherever it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from nhalf.base.errors import NhalfError
from nhalf.base.typed_toml import read_toml
from nhalf.base.unreadable import KEY_PARTS_MAX, check_keys
from nhalf.decide.ledger import lines
from nhalf.jobs.job import RECORD, record_of
from nhalf.machines.machine_file import read
from nhalf.measure.traced.layout import process_file
from nhalf.measure.traced.tables import open_trace
from nhalf.mpi.tuning_files.mpich_tree import check_tree
from nhalf.mpi.tuning_files.openmpi_json import read_json
from nhalf.store.journal import events, events_named
from nhalf.store.run import Run

LONG = ".".join("a" * 20_000)
TEXTS = {
    "arrays": "[" * 100_000 + "]" * 100_000,
    "objects": '{"a":' * 200_000 + "1" + "}" * 200_000,
    "a cut end": "[" * 200_000,
    "in a known key": '{"schema": 2, "event": "point", "plan": ' + "[" * 200_000,
    "in an unknown key": '{"schema": 2, "event": "point", "x": ' + '{"a":' * 200_000,
}
TOML = {
    "arrays": "a = " + "[" * 100_000 + "]" * 100_000,
    "tables": "a = " + "{a = " * 100_000 + "1" + "}" * 100_000,
    "a key": f"{LONG} = 1",
    "a table's name": f"[{LONG}]",
    "a list's name": f"[[ {LONG} ]] # the end",
    "a quoted key": ".".join(['"a b"'] * 20_000) + " = 1",
    "an inner key": f"a = {{b = 1, {LONG} = 1}}",
}


def _events(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b'\n{"event": "end"}\n')
    list(events(path))


def _points(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b'\n{"event": "end"}\n')
    list(events_named("point", path, lines.Predicted))


def _process(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")
    process_file(path)


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "run": ("run.json", lambda path: Run.open(path.parent)),
    "journal": ("journal.jsonl", _events),
    "points": ("journal.jsonl", _points),
    "trace": ("trace.json", lambda path: open_trace(path.parent)),
    "process": ("vm-1.json", _process),
    "job": (RECORD, lambda path: record_of(path.parent)),
    "tree": ("tree.json", lambda path: check_tree(path, path.read_text(), {})),
    "rules": ("rules.json", lambda path: read_json(path, path.read_text(), lambda _: {})),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_json_is_refused_in_one_line(tmp_path: Path, text: str, reader: str) -> None:
    name, read_file = READERS[reader]
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(NhalfError) as caught:
        read_file(file)
    assert str(tmp_path) in str(caught.value) and len(str(caught.value)) < 1000


@pytest.mark.parametrize("reader", [read_toml, read], ids=["toml", "machine"])
@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_so_is_toml(tmp_path: Path, text: str, reader: Callable[[Path], object]) -> None:
    file = tmp_path / "m.toml"
    file.write_text(f"name = 'a'\n{text}\n")
    with pytest.raises(NhalfError, match=r"m\.toml") as caught:
        reader(file)
    assert len(str(caught.value)) < 1000


def test_keys_of_many_parts_end_where_they_are_slow() -> None:
    parts = ".".join("a" * KEY_PARTS_MAX)
    check_keys(f"{parts} = 1".encode())
    with pytest.raises(msgspec.DecodeError, match="more than 100 parts"):
        check_keys(f"{parts}.a = 1".encode())


@pytest.mark.parametrize(
    "text",
    [
        "text = '''\n" + "." * 500 + "\n'''",
        'words = "' + "One. Two! " * 300 + '"',
        f"times = [{', '.join(['1.5'] * 500)}]",
        "# " + "a. " * 500,
    ],
)
def test_many_points_make_no_key(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.toml"
    file.write_text(text)
    read_toml(file)
