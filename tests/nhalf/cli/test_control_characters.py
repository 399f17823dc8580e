"""Names of others that hold control characters neither steer a terminal nor break a page."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from nhalf.base.printable import CONTROL, printable
from tests.server import CALL_S, Ended, server

EVIL = {
    "title": "\x1b]0;pwn\x07",
    "colour": "\x1b[31m",
    "nul": "a\x00b",
    "c1": "a\x9b31mb",
    "delete": "a\x7f\x08b",
    "bidi": "a\u202eb\u2066c",
    "line": "a\u2028b\rc\x0b",
}
ALL = "".join(EVIL.values())
TIERS = [pytest.param(ALL, id="all")] + [
    pytest.param(text, id=name, marks=pytest.mark.full) for name, text in EVIL.items()
]
"""All in one name, and each alone in the second tier."""
LOG = "# OSU MPI Latency Test v7.0\n# Size Latency (us)\n0 1.5\n1 1.6\n2 1.61\n4 1.62\n"


def _nhalf(*words: str | Path, folder: Path) -> Ended:
    started = server().start(*words, folder=folder)
    out, err = started.communicate(timeout=CALL_S)
    return Ended(started.returncode, out, err)


@pytest.fixture(params=TIERS)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A run of somebody else, with such a name of its library and of its host."""
    (tmp_path / "osu.txt").write_text(LOG)
    assert _nhalf("import", "osu.txt", "--out", "r", "--mpi", "lib", folder=tmp_path).code == 0
    run = tmp_path / "r"
    for file in (run / "run.json", run / "journal.jsonl"):
        text = file.read_text()
        assert "lib" in text or file.name == "run.json"
        evil = msgspec.json.encode(request.param).decode()[1:-1]
        file.write_text(text.replace('"lib"', f'"lib{evil}"'))
    (run / "measurements.parquet").unlink()
    return run


def _check(text: str) -> None:
    assert not CONTROL.search(text)


def test_what_is_printed_and_written_holds_none(run: Path) -> None:
    folder = run.parent
    for words in (["show", "r"], ["show", "r", "--format", "csv"], ["show", "r", "--json"]):
        ended = _nhalf(*words, folder=folder)
        assert ended.code == 0 and "lib" in ended.out
        _check(ended.out + ended.err)
    names = {point["mpi"] for point in json.loads(ended.out)["points"]}
    assert len(names) == 1 and CONTROL.search(names.pop()), "JSON keeps what was given"
    ended = _nhalf("report", "r", "--out", "r.html", folder=folder)
    assert ended.code == 0
    _check((folder / "r.html").read_text("utf-8"))
    ended = _nhalf("show", "r:nothing", folder=folder)
    assert ended.code == 2
    _check(ended.err)


def test_a_terminal_gets_colours_and_no_title(tmp_path: Path) -> None:
    (tmp_path / "osu.txt").write_text(LOG)
    _nhalf("import", "osu.txt", "--out", "r", "--mpi", "lib", folder=tmp_path)
    journal = tmp_path / "r/journal.jsonl"
    journal.write_text(journal.read_text().replace('"lib"', r'"lib\u001b]0;pwn\u0007"'))
    (tmp_path / "r/measurements.parquet").unlink()
    main, other = pty.openpty()
    words = [sys.executable, "-m", "nhalf", "show", "r"]
    environment = {**os.environ, "TERM": "xterm-256color"}
    with subprocess.Popen(words, cwd=tmp_path, stdout=other, env=environment) as process:
        os.close(other)
        shown = b""
        try:
            while part := os.read(main, 65536):
                shown += part
        except OSError:
            pass
    os.close(main)
    assert process.returncode == 0
    assert b"\x1b[" in shown and b"\x1b]" not in shown and b"lib" in shown


@pytest.mark.parametrize("evil", TIERS)
def test_a_name_that_is_given_is_refused(tmp_path: Path, evil: str) -> None:
    if evil == EVIL["nul"]:
        pytest.skip("no argument of a program can hold it")
    (tmp_path / "osu.txt").write_text(LOG)
    given = f"lib{evil}".replace("\0", "")
    ended = _nhalf("import", "osu.txt", "--out", "r", "--mpi", given, folder=tmp_path)
    assert ended.code == 2 and "--mpi holds control characters" in ended.err
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    "name",
    [
        b"r\xff\n1\x1b[31m",
        *(
            pytest.param(alone, marks=pytest.mark.full)
            for alone in (b"r\xff", b"r\n1", b"r\x1b[31m")
        ),
    ],
    ids=ascii,
)
def test_folders_may_have_any_name(tmp_path: Path, name: bytes) -> None:
    (tmp_path / "osu.txt").write_text(LOG)
    folder = os.fsdecode(name)
    for words in (
        ["import", "osu.txt", "--out", folder, "--mpi", "lib"],
        ["show", folder, "--json"],
        ["show", "--sql", "select run, bytes from points", folder],
        ["compare", folder, folder],
        ["report", folder, "--out", "r.html"],
    ):
        ended = _nhalf(*words, folder=tmp_path)
        assert ended.code == 0, ended.err
        _check(ended.out)
    assert not CONTROL.search((tmp_path / "r.html").read_text("utf-8"))
    words = [sys.executable, "-m", "nhalf", "show", folder]
    shown = subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout
    _check(shown.decode("utf-8"))


def test_ordinary_text_stays_as_it_is() -> None:
    text = "a\tb\r\nµ – é 日本 \u200f\n"
    assert printable(text) == text
    for evil in EVIL.values():
        assert not CONTROL.search(printable(evil))
