"""Command lines that nobody means, on folders that something damaged: one line says why."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.store.run import Run
from tests.nhalf.cli.hostile_subjects import (
    write_ledger,
    write_machine,
    write_measurements,
    write_promises,
    write_run,
)
from tests.nhalf.cli.hostile_traces import write_trace
from tests.nhalf.cli.in_process import call_here

LINE_MAX, WORD_MAX = 300, 255
"""Characters of an error besides names that it repeats, and of each of these."""
LONG = "x" * 5000
ODD_NAMES = ("a b", "ü", "semi;colon", "quo'te", "[red]", "-dash", "new\nline", "%s{}")
VALUES = ("", "0", "-1", "1e400", "nan", "inf", "1:0", ",", "a:b:c", "½", "\x00"[:0], "10**9",
          "9" * 40, "2:1000000000:x2", "4K", "$(id)", "../..", LONG, "[/red]", "3%", "1e300%",
          "%", ":", "mpich", "bcast", "native")  # fmt: skip
OPTIONS = {
    "show": ("--mpi", "--style", "--formula", "--format"),
    "check": ("--tolerance", "--pattern", "--mpi", "--junit", "--expect"),
    "compare": ("--mpi", "--tolerance", "--ranks", "--bytes", "--report"),
    "history": ("--pattern", "--mpi", "--bytes", "--report", "--format"),
    "show --sql": ("--format",),
    "predict": ("--mpi", "--ranks", "--bytes", "--set", "--out", "--report", "--ledger",
                "--formula", "--traced-on", "--placement", "--computing-factor", "--algorithms"),
    "machines list": ("--format",),
    "machines show": ("--set", "--format"),
    "fit": ("--node", "--out", "--format"),
    "predict --score": ("--format",),
    "report": ("--out", "--format", "--overlay"),
    "export": ("--mpi", "--pattern", "--ranks", "--bytes", "--set", "--out"),
    "bound": ("--function", "--machine", "--set"),
}  # fmt: skip
USUAL = {
    "--mpi": ("mpich", "openmpi"), "--style": ("imb", "osu"), "--formula": ("text", "python"),
    "--format": ("csv", "json", "markdown"), "--tolerance": ("5%", "0.1"),
    "--pattern": ("bcast", "allreduce"), "--ranks": ("2,4", "2:8:x2"), "--bytes": ("8", "0:4K"),
    "--report": ("page.html",), "--out": ("folder/written",), "--junit": ("junit.xml",),
    "--set": ("network.bandwidth=2x", "n=10"), "--computing-factor": ("0.5",),
    "--placement": ("2x2",), "--function": ("f",), "--machine": ("power2",),
    "--algorithms": ("table",), "--ledger": ("ledger",),
}  # fmt: skip
"""Values that people mean."""
EXPORTS = ("simgrid", "loggopsim-params", "goal", "extra-p", "reframe", "chrome", "simgrid-replay")
QUERIES = ("select * from points", "select nan from", "drop table points", "", "select 1/0", "½",
           "select count(*) from samples", "show tables", "select * from runs", LONG)  # fmt: skip


def _damage(run: Path, draw: random.Random) -> None:
    """One thing that a full disk, a crash or a user does to a run."""
    parquet, description = run / "measurements.parquet", run / "run.json"
    content = parquet.read_bytes()
    draw.choice(
        (
            lambda: None,
            lambda: parquet.write_bytes(content[: draw.randint(0, len(content) - 1)]),
            lambda: parquet.write_bytes(content[:40] + b"\xff" * 40 + content[80:]),
            lambda: (parquet.unlink(), parquet.mkdir()),
            parquet.unlink,
            description.unlink,
            lambda: description.write_bytes(b""),
            lambda: description.write_bytes(b"\xff\xfe{"),
            lambda: description.write_text("[]"),
            lambda: description.write_text('{"schema": 99}'),
            lambda: description.write_text('{"schema": 2, "environment": [], "created": 7}'),
            lambda: description.write_text('{"schema": 2, "created": "yesterday"}'),
            lambda: (description.unlink(), description.mkdir()),
            lambda: (parquet.unlink(), (run / "journal.jsonl").write_bytes(b"")),
            lambda: (parquet.unlink(), (run / "journal.jsonl").write_bytes(b'{"event":"point"\n')),
            lambda: (parquet.unlink(), (run / "journal.jsonl").write_bytes(b"\x00" * 99)),
            lambda: write_measurements(run, []),
            lambda: os.chmod(run, 0),
        )
    )()


def _damaged_file(path: Path, draw: random.Random) -> Path:
    """A file that is cut, empty, a folder, of a later version, or as it was."""
    content = path.read_bytes()
    changed = (content, content[: len(content) // 2], b"", b"\xff" * 30, b"schema = 99\n", b"[[[[")
    path.write_bytes(draw.choice(changed))
    if draw.random() < 0.1:
        path.unlink()
        path.mkdir()
    return path


def subjects(draw: random.Random, seed: int, folder: Path) -> tuple[list[str], list[str]]:
    """What can be named: sound runs, traces and machines; and damaged ones, and what is none."""
    sound = write_run(seed % 20, folder / f"sound/{draw.choice(ODD_NAMES)}")
    other = write_run(seed % 20, folder / "sound/other", 1)
    damaged = write_run(seed % 20, folder / "runs/damaged")
    write_run(seed % 20, folder / "runs/sound", 1)
    _damage(damaged, draw)
    files = [
        write(seed % 20, folder / kind / name)
        for kind in ("good", "bad")
        if not (folder / kind).mkdir()
        for write, name in (
            (write_trace, "trace"),
            (write_machine, "machine.toml"),
            (write_promises, "promises.toml"),
            (write_ledger, "ledger"),
        )
    ]
    trace, *bad_files = files[4:]
    _damaged_file(trace / draw.choice(("trace.json", "calls.parquet", "bins.parquet")), draw)
    for file in bad_files:
        _damaged_file(file, draw)
    (folder / "empty").mkdir()
    (folder / "source.c").write_text("void f(double *x) { for (int i = 0; i < 9; i++) x[i] = 0; }")
    good = [sound, other, f"{other}:mpich", folder / "sound", *files[:4], folder / "source.c"]
    bad = [*[damaged] * 8, folder / "runs", trace, *bad_files, folder / "empty",
           folder / "missing", f"{other}:", f"{other}:x", "sp2-mpl:x", "/dev/null",
           damaged / "measurements.parquet"]  # fmt: skip
    return [*map(str, good), "sp2-mpl", "altix-bx2"], list(map(str, bad))


def hostile_line(draw: random.Random, good: list[str], bad: list[str]) -> list[str]:
    """A verb with places and options: one of them is odd, or several."""
    odd = draw.choice(("place", "place", "option", "everything", "nothing"))
    verb = draw.choice(sorted(OPTIONS))
    runs = bad if odd in ("place", "everything") else good[:3]
    words = verb.split()
    if verb == "show --sql":
        words += [draw.choice(QUERIES if odd in ("option", "everything") else QUERIES[:1])]
    words += _places(draw, verb, runs, good, bad if odd in ("place", "everything") else good)
    names = draw.sample(OPTIONS[verb], min(len(OPTIONS[verb]), draw.choice((0, 1, 1, 2))))
    for option in names:
        usual = (*USUAL.get(option, ()), *good)
        values = (*VALUES, *bad) if odd in ("option", "everything") else usual[:2]
        words += [option, draw.choice(values)]
    if odd == "everything":
        words += draw.choice(((), (), (draw.choice(VALUES),), ("--nothing",)))
    return [*words, *draw.choice(((), (), ("--json",)))]


def _places(
    draw: random.Random, verb: str, runs: list[str], good: list[str], others: list[str]
) -> list[str]:
    """The words of a verb, as many as it takes or nearly so."""
    machine = "sp2-mpl" if draw.random() < 0.5 else draw.choice(others)
    taken: dict[str, list[str]] = {
        "check": [draw.choice(runs), draw.choice(("--expect", "--against")), draw.choice(others)],
        "compare": [draw.choice(good[:3]), draw.choice(others)],
        "predict": [draw.choice(("bcast", "beff", "traffic", *others)), "--machine", machine],
        "history": [draw.choice((*runs, good[3])), *draw.choices(runs, k=draw.choice((0, 1)))],
        "predict --score": [
            "--ledger",
            draw.choice(("ledger", good[7], *others)),
            draw.choice(runs),
        ],
        "machines list": draw.choice(([], [draw.choice(others)])),
        "export": [draw.choice(others), "--to", draw.choice((*EXPORTS, "x"))],
        "bound": [draw.choice(others[-3:] + good[8:9])],
        "report": draw.choices(runs, k=draw.choice((1, 1, 2))),
        "show": [draw.choice(others), *draw.choice(((), (), ("bcast",)))],
    }
    return taken.get(verb, [draw.choice(others)])


def complaints(seed: int, folder: Path) -> list[str]:
    """What is wrong with the end of the command line of a seed."""
    draw = random.Random(f"line {seed}")
    words = hostile_line(draw, *subjects(draw, seed, folder))
    ended = call_here(*words, folder=folder)
    lines = [line for line in ended.err.splitlines() if not line.startswith("nhalf: skipped: ")]
    shorter = [re.sub(r"\S{50,}", "", line) for line in lines]
    longest_word = max(map(len, ended.err.split()), default=0)
    wrong = []
    if ended.code not in (0, 1, 2, 3):
        wrong.append(f"exit code {ended.code}")
    if "Traceback" in ended.err or "Warning: " in ended.err:
        wrong.append(ended.err[-500:])
    elif ended.code > 1 and (len(lines) > 1 or not ended.err):
        wrong.append(f"{len(lines)} lines: {ended.err[:500]}")
    elif max(map(len, shorter), default=0) > LINE_MAX or longest_word > WORD_MAX:
        wrong.append(f"{len(ended.err)} characters: {ended.err[:1000]}")
    wrong += [f"half-written {path}" for path in folder.rglob("*.part*")]
    line = " ".join(words).replace(str(folder), "…")[:300]
    return [f"seed {seed}: {line}: {text}" for text in wrong]


@pytest.fixture
def fresh_folder(tmp_path: Path) -> Callable[[], Path]:
    """Makes an empty folder, whatever the last command line left there."""

    def make() -> Path:
        folder = tmp_path / "hostile"
        for path in (folder, *folder.glob("*/*")):
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    return make


def test_bad_command_lines_end_with_one_line(fresh_folder: Callable[[], Path]) -> None:
    assert [text for seed in range(20) for text in complaints(seed, fresh_folder())] == []


@pytest.mark.full
@pytest.mark.parametrize("hundred", range(10))
def test_and_so_does_each_of_a_thousand(hundred: int, fresh_folder: Callable[[], Path]) -> None:
    seeds = range(100 * hundred, 100 * hundred + 100)
    assert [text for seed in seeds for text in complaints(seed, fresh_folder())] == []


def test_what_is_damaged_here_was_sound(tmp_path: Path) -> None:
    assert Run.open(write_run(1, tmp_path / "run")).measurements().collect().height > 0


def test_a_word_that_nobody_reads_is_cut(tmp_path: Path) -> None:
    ended = call_here("predict", LONG, "--machine", "sp2-mpl", folder=tmp_path)
    assert ended.code == 2
    assert f"{'x' * 100}…x" in ended.err
    assert LONG[:300] not in ended.err
