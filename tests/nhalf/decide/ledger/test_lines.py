"""The ledger's file: appended under a lock, read whatever a crash left."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.decide.ledger.lines import Ledger, append_lines, read_ledger, usual_path
from tests.nhalf.decide.ledger.cells import predicted, scored


def test_lines_are_read_as_they_were_appended(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    assert read_ledger(path) == Ledger()
    first, second = predicted(1, ends=(0.5, 2.0)), scored(1.1, 1.2)
    append_lines(path, [first])
    append_lines(path, [second])
    assert read_ledger(path) == Ledger((first,), (second,))
    append_lines(path, [])
    assert len(path.read_text().splitlines()) == 2


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_values_that_are_no_times_are_not_recorded(tmp_path: Path, value: float) -> None:
    append_lines(tmp_path / "ledger", [predicted(value=value)])
    assert not (tmp_path / "ledger").exists()


def test_lines_that_cannot_be_read_are_counted_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    append_lines(path, [predicted(1)])
    with path.open("a") as file:
        file.write('{"line": "of a later form"}\n\n{"line":"predic')
    append_lines(path, [predicted(2)])
    ledger = read_ledger(path)
    assert [line.cell.size_bytes for line in ledger.predictions] == [1, 2]
    assert ledger.unread == 2
    path.write_bytes(b"\xff\xfe\x00\n" * 3)
    assert read_ledger(path).unread == 3


def test_several_writers_do_not_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    many = [[predicted(100 * writer + n) for n in range(50)] for writer in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda lines: append_lines(path, lines), many))
    sizes = [line.cell.size_bytes for line in read_ledger(path).predictions]
    assert sorted(sizes) == sorted(100 * writer + n for writer in range(8) for n in range(50))
    assert all(sizes[i : i + 50] == sorted(sizes[i : i + 50]) for i in range(0, 400, 50))


def test_a_folder_in_its_place_is_missing(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="cannot be written"):
        append_lines(tmp_path, [predicted()])
    with pytest.raises(MissingError, match="cannot be read"):
        read_ledger(tmp_path)


def test_the_usual_one_is_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert usual_path() == tmp_path / "nhalf" / "ledger.jsonl"
    append_lines(usual_path(), [predicted()])
    assert len(read_ledger(usual_path()).predictions) == 1
    assert os.stat(usual_path()).st_mode & 0o022 == 0
