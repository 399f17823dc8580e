"""`nhalf import`: logs become a run that every other verb takes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import NhalfError
from nhalf.mpi import discover
from nhalf.sites.start import start
from tests.patience import patience_s

pytestmark = pytest.mark.slow

Call = Callable[..., Any]
LOGS = Path(__file__).resolve().parents[3] / "data" / "logs"
TWO = """# OSU MPI Latency Test v7.5
# Size       Avg Latency(us)
1                       1.00
1024                    2.00
"""


def points(call: Call, *words: str | Path) -> list[dict[str, Any]]:
    ended = call("import", *words, "--json")
    assert ended.code == 0, ended.err
    found: list[dict[str, Any]] = json.loads(ended.out)["points"]
    return found


def test_all_samples_make_one_run_that_can_be_shown_and_reported(
    call: Call, tmp_path: Path
) -> None:
    found = points(call, *sorted(LOGS.iterdir()), "--out", "run", "--ranks", "4")
    assert {point["pattern"] for point in found} >= {"pingpong", "allreduce", "distance", "ibcast"}
    assert all(point["median_s"] > 0 for point in found if point["verified"])
    assert len([point for point in found if not point["verified"]]) == 4
    assert (tmp_path / "run" / "measurements.parquet").exists()
    assert (tmp_path / "run" / "journal.jsonl").exists()
    shown = call("show", "run")
    assert shown.code == 1
    assert "WRONG DATA: imported, allreduce, 8 B, 4 ranks" in shown.out + shown.err
    assert "allreduce  4 ranks  imported\n" in shown.out
    assert "pingpong  2 ranks  intel-2021.5, imported\n" in shown.out
    reported = call("report", "run", "--out", "report.html")
    assert reported.code == 1
    assert "OSU Micro-Benchmarks" in (tmp_path / "report.html").read_text("utf-8")


def test_json_says_what_each_file_held(call: Call) -> None:
    ended = call("import", LOGS / "mixed.txt", LOGS / "imb_mpi1.txt", "--out", "run", "--json")
    answer = json.loads(ended.out)
    assert [(f["suites"], f["points"], f["passed_over"]) for f in answer["files"]] == [
        (["osu", "imb", "mpigraph"], 5, 2),
        (["imb"], 10, 1),
    ]
    assert ended.err.splitlines() == [
        f"nhalf: {LOGS / 'mixed.txt'}: 2 lines passed over, "
        "first line 6: '16      [n1:12346] interleaved   3.50'",
        f"nhalf: {LOGS / 'imb_mpi1.txt'}: 1 line passed over, first line 62: "
        "'16 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; "
        'use "-time X"\'',
    ]


def test_people_are_told_where_it_is(call: Call, tmp_path: Path) -> None:
    ended = call("import", LOGS / "osu_latency_7_5.txt", "--out", "run")
    assert (ended.code, ended.err) == (0, "")
    assert "4 points, OSU Micro-Benchmarks" in ended.out
    assert f"nhalf show {tmp_path / 'run'}" in ended.out


def test_repeated_tables_are_launches(call: Call, tmp_path: Path) -> None:
    first, second, cut = (tmp_path / f"{name}.txt" for name in ("first", "second", "cut"))
    first.write_text(TWO)
    second.write_text(TWO.replace("1.00", "3.00") + TWO.replace("1.00", "9.00"))
    # The small size is missing here, and the large one is there twice.
    cut.write_text(TWO.replace("1       ", "#") + "1024  2.00\n")
    small, large = points(call, first, cut, second, "--out", "run")
    assert (small["launches"], small["median_s"]) == (3, pytest.approx(3e-6))
    assert (large["launches"], large["median_s"]) == (5, pytest.approx(2e-6))
    rows = json.loads(
        call(
            "show",
            "--sql",
            "SELECT bytes, launch FROM launches ORDER BY bytes, launch",
            "run",
            "--json",
        ).out
    )["rows"]
    assert rows == [[1, 0], [1, 2], [1, 3], *([1024, launch] for launch in range(5))]


def test_a_mean_says_that_it_is_one_and_samples_do_not(call: Call) -> None:
    (latency, *_) = points(call, LOGS / "osu_latency_7_5.txt", "--out", "mean")
    assert latency["advice"] == ["one-launch", "imported"]
    (raw, _) = points(call, LOGS / "reprompi_raw.txt", "--out", "raw")
    assert "imported" not in raw["advice"]
    assert raw["samples"] == 3


def test_defects_are_not_verified(call: Call) -> None:
    found = points(call, LOGS / "imb_mpi1.txt", "--out", "run")
    wrong = [point for point in found if not point["verified"]]
    assert [(p["pattern"], p["bytes"]) for p in wrong] == [("pingpong", 4194304)]
    assert "unverified" in wrong[0]["advice"]


def test_names_may_be_given(call: Call) -> None:
    words = ("--mpi", "old-library", "--placement", "free")
    found = points(call, LOGS / "osu_latency_7_5.txt", "--out", "run", *words)
    assert {(p["mpi"], p["placement"]) for p in found} == {("old-library", "free")}
    found = points(call, LOGS / "netpipe_5_np.out", "--out", "tcp", "--transport", "tcp")
    assert {(p["transport"], p["mpi"]) for p in found} == {("tcp", "")}


def test_old_and_new_are_compared(call: Call, make_measurements: Any, tmp_path: Path) -> None:
    from nhalf.store.run import Run

    old = tmp_path / "old.txt"
    old.write_text(TWO * 5)
    points(call, old, "--out", "old")
    new = Run.create(tmp_path / "new", {})
    frame = make_measurements(sizes=(1, 1024), slower={"mpich": 3.0}).collect()
    frame.drop("run").with_columns(
        algorithm=_word("native"), placement=_word("cores")
    ).write_parquet(new.path / "measurements.parquet", metadata={"nhalf.schema": "2"})
    ended = call("compare", "old", "new", "--json")
    answer = json.loads(ended.out)
    assert (ended.code, answer["verdict"]) == (1, "slower")
    assert [size["a_s"] for size in answer["patterns"][0]["sizes"]] == pytest.approx([1e-6, 2e-6])


def _word(text: str) -> Any:
    import polars as pl

    return pl.lit(text)


def test_ranks_that_nobody_said_are_asked_for(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("# OSU MPI Broadcast Latency Test v7.5\n# Size  Avg Latency(us)\n8  3.5\n")
    ended = call("import", log, "--out", "run")
    ended.is_error(2, "does not say how many ranks did bcast", "--ranks")
    assert not (tmp_path / "run").exists()
    found = points(call, log, log, "--out", "run", "--ranks", "4,8")
    assert sorted(point["ranks"] for point in found) == [4, 8]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ranks", ["0", "-1", "x", "2,3,4", "1.5", "99999999", "²"])
def test_numbers_of_ranks_that_are_none(call: Call, ranks: str) -> None:
    log = LOGS / "osu_latency_7_5.txt"
    call("import", log, log, "--out", "run", "--ranks", ranks).is_error(2, "number of ranks")


def test_strict_takes_no_damage(call: Call, tmp_path: Path) -> None:
    ended = call("import", LOGS / "mixed.txt", "--out", "run", "--strict")
    ended.is_error(2, "2 lines passed over", "without --strict")
    assert not (tmp_path / "run").exists()
    assert call("import", LOGS / "imb_groups.txt", "--out", "run", "--strict").code == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b"\0\1\2", "is binary"), (b"a letter\n", "has no known format")],
)
def test_what_is_no_log_is_one_clear_line(
    call: Call, tmp_path: Path, content: bytes, words: str
) -> None:
    (tmp_path / "log").write_bytes(content)
    call("import", "log", "--out", "run").is_error(2, words, "ReproMPI")
    assert not (tmp_path / "run").exists()


def test_folders_missing_files_and_runs_that_are_there(call: Call, tmp_path: Path) -> None:
    call("import", ".", "--out", "run").is_error(2, "is a folder", "known are logs of")
    call("import", "none", "--out", "run").is_error(2, "does not exist")
    log = LOGS / "osu_latency_7_5.txt"
    assert call("import", log, "--out", "run").code == 0
    call("import", log, "--out", "run").is_error(2, "holds a run already")
    ended = call("import", log, "--out", "/dev/null/run")
    ended.is_error(3, "cannot be kept")


def test_an_imported_run_cannot_go_on(call: Call) -> None:
    call("import", LOGS / "osu_latency_7_5.txt", "--out", "run")
    call("run", "--resume", "run").is_error(2, "was imported", "import more logs")


@pytest.mark.full
def test_a_real_log_of_imb(call: Call, tmp_path: Path) -> None:
    """IMB comes with Intel's library; what it prints today is read, and compared with itself."""
    benchmarks = ("PingPong", "Sendrecv", "Allreduce", "Barrier", "Bcast")
    imb = _imb("IMB-MPI1", *benchmarks, "-msglog", "3:12", "-iter", "200")
    nbc = _imb("IMB-NBC", "Ibcast", "-msglog", "3:12", "-iter", "50")
    (tmp_path / "imb.txt").write_text(imb, "utf-8")
    (tmp_path / "nbc.txt").write_text(nbc, "utf-8")
    found = points(call, "imb.txt", "nbc.txt", "imb.txt", "--out", "run", "--strict")
    sizes = [0, *(2**k for k in range(3, 13))]
    for pattern in ("pingpong", "exchange", "allreduce", "bcast", "ibcast"):
        plain = [p for p in found if p["pattern"] == pattern and not p["axes"]]
        measured = [p["bytes"] for p in plain]
        # What is too short for two decimals is not there.
        assert measured in (sizes, sizes[1:]), pattern
        assert all(0 < p["median_s"] < 10 and p["ranks"] == 2 for p in plain)
        assert {p["launches"] for p in plain} == {1 if pattern == "ibcast" else 2}
    assert [p["bytes"] for p in found if p["pattern"] == "barrier"] == [0]
    for row in imb.splitlines():
        words = row.split()
        if len(words) == 6 and words[0] == "4096":
            exchange = next(p for p in found if (p["pattern"], p["bytes"]) == ("exchange", 4096))
            assert exchange["median_s"] == pytest.approx(float(words[3]) / 1e6)
    assert call("show", "run").code == 0
    assert call("report", "run").code == 0


def _imb(program: str, *words: str) -> str:
    """What one of Intel's benchmarks prints on two ranks."""
    try:
        library = discover.find("intel")
    except NhalfError as error:
        pytest.skip(str(error))
    path = library.prefix / "bin" / program
    if not path.exists():
        pytest.skip(f"{program} is not here")
    prepared = start(library, [str(path), *words], 2)
    done = subprocess.run(
        list(prepared.command),
        env={**os.environ, **prepared.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=patience_s(120),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_a_folder_there_is_one_of_its_name(call: Call, tmp_path: Path) -> None:
    for name in ("osu_latency_7_5", "osu_latency_7_5-2"):
        assert call("import", LOGS / "osu_latency_7_5.txt").code == 0
        assert (tmp_path / "runs" / name / "measurements.parquet").exists()


def test_commands_that_differ_are_other_curves_and_odd_tables_are_told(
    call: Call, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.write_text(
        f"mpirun -np 2 --mca btl tcp osu_latency\n{TWO}"
        f"mpirun -np 2 --mca btl vader osu_latency\n{TWO.replace('1.00', '3.00')}"
    )
    found = points(call, log, "--out", "run")
    assert {point["axes"]["command"] for point in found} == {"tcp", "vader"}
    log.write_text(TWO + TWO.replace("1.00", "9.00").replace("2.00", "9.00"))
    ended = call("import", log, "--out", "odd")
    assert "2 tables of pingpong of 2 ranks imported differ by up to a factor of" in ended.out


def test_ranks_are_told_with_their_line(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "srun -c 6 -n 12 osu_bcast\n# OSU MPI Broadcast Latency Test v7.5\n"
        "# Size  Avg Latency(us)\n8  3.5\n"
    )
    ended = call("import", log, "--out", "run")
    assert "12 ranks of MPI Broadcast Latency: line 1 of" in ended.out


def test_imported_runs_are_compared_with_their_own_advice(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(TWO)
    call("import", log, "--out", "old")
    other = "# OSU MPI Bandwidth Test v7.5\n# Size      Bandwidth (MB/s)\n8   5.00\n"
    log.write_text(TWO + other)
    call("import", log, "--out", "new")
    ended = call("compare", "old", "new")
    assert "import more logs into old and new" in ended.out
    assert "--resume" not in ended.out
    assert "Only in new: stream" in ended.out
