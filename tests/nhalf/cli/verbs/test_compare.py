"""The verb compare: which sides it takes, what it prints, how it exits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.cli.verbs.compare import Request, command
from nhalf.machines import catalogue
from nhalf.store.keys import VERSION
from nhalf.store.run import Run

Make = Callable[..., pl.LazyFrame]
Keep = Callable[..., str]


@pytest.fixture
def keep(tmp_path: Path, make_measurements: Make) -> Keep:
    """Makes a run directory of synthetic measurements: name and what the builder takes."""

    def make(name: str, **asked: Any) -> str:
        folder = tmp_path / name
        Run.create(folder, {"environment": {}, "plan": {}, "titles": {}})
        frame = make_measurements(launch_noise=0.003, **asked).collect().drop("run")
        frame.write_parquet(
            folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
        )
        return str(folder)

    return make


def code(a: str, b: str = "", **options: Any) -> int:
    """The exit code of the verb."""
    return command(Request(a=a, b=(b,) if b else (), **options))


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_a_slower_run_exits_1_and_says_where(
    keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = keep("a"), keep("b", seed=2, slower={"mpich": 1.2})
    assert code(a, b) == 1
    out = capsys.readouterr().out
    assert f"{b} is slower than {a}" in out
    assert out.startswith("Half of the curves resolve the tolerance of 2 %.\n")
    assert re.search(r"pingpong, mpich +all sizes +\+\d+\.\d % +\+.* to .* slower", out)
    assert code(a, b, points=True) == 1
    assert re.search(r"4 MiB +\d", capsys.readouterr().out)
    assert code(b, a) == 0
    assert f"{a} is faster than {b}" in capsys.readouterr().out


def test_at_another_clock_of_the_gpu_nothing_is_called_slower(
    keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    def clocked(name: str, clock_hz: float, **asked: Any) -> str:
        ends = ("gpu_clock_before_hz", "gpu_clock_after_hz")
        values = [{"name": end, "value": clock_hz} for end in ends]
        return keep(name, sizes=(8, 1024), values=values, **asked)

    a, slower = clocked("a", 1.98e9), {"mpich": 1.2}
    assert code(a, clocked("b", 1.59e9, seed=2, slower=slower)) == 0
    out = capsys.readouterr().out
    assert "pingpong, mpich: unclear (the GPU's clock went from 1980 to 1590 MHz between" in out
    assert "lock the clock for both runs" in out
    assert " slower" not in out
    assert code(a, clocked("c", 1.98e9, seed=2, slower=slower)) == 1


def test_equal_runs_exit_0_with_every_size_on_request(
    keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = keep("a"), keep("b", seed=2)
    assert code(a, b) == 0
    assert "4 MiB" not in capsys.readouterr().out
    assert code(a, b, points=True) == 0
    assert "4 MiB" in capsys.readouterr().out


def test_layers_that_no_library_carries_go_by_their_transport(
    keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    library = keep("a", libraries=["mpich-5"], slower={"mpich-5": 1.3})
    layer = keep("b", libraries=[""], transport="shm")
    assert code(f"{library}:mpich", f"{layer}:shm", json=True) == 0
    (curve,) = printed(capsys)["patterns"]
    assert (curve["mpi"], curve["verdict"]) == ("mpich-5,shm", "faster")


def test_two_libraries_of_one_run(keep: Keep, capsys: pytest.CaptureFixture[str]) -> None:
    run = keep("a", libraries=["mpich-5", "openmpi-5"], slower={"openmpi-5": 1.3})
    assert code(run, mpi="mpich,openmpi", json=True) == 1
    assert printed(capsys)["patterns"][0]["mpi"] == "mpich-5,openmpi-5"
    assert code(run, json=True) == 1
    assert printed(capsys)["verdict"] == "slower"
    assert code(run, mpi="openmpi,mpich", json=True) == 0
    assert printed(capsys)["verdict"] == "faster"


def test_a_library_may_be_named_with_the_run(
    keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    run = keep("a", libraries=["x", "y"], slower={"y": 1.3})
    assert code(f"{run}:x", f"{run}:y", json=True) == 1
    assert printed(capsys)["patterns"][0]["mpi"] == "x,y"


def test_equal_names_are_paired_in_two_runs(keep: Keep, capsys: pytest.CaptureFixture[str]) -> None:
    a = keep("a", libraries=["x", "y"])
    b = keep("b", libraries=["y", "z"], seed=2)
    assert code(a, b, json=True) == 0
    assert [curve["mpi"] for curve in printed(capsys)["patterns"]] == ["y"]


def test_changes_within_the_tolerance_do_not_count(keep: Keep) -> None:
    a, b = keep("a"), keep("b", seed=2, slower={"mpich": 1.2})
    assert code(a, b, tolerance="50%") == 0


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (["{a}"], {}, "which two libraries"),
        (["{a}"], {"mpi": "x,nothing"}, "unknown library 'nothing'"),
        (["{a}"], {"mpi": "x,x"}, "with itself"),
        (["{a}", "{a}"], {"mpi": "x,y,z"}, "one or two names"),
        (["{a}", "{a}"], {"mpi": ","}, "one or two names"),
        (["{a}:x", "{a}"], {"mpi": "y"}, "given twice"),
        (["{a}", "{a}-not-there"], {}, "not a run"),
        (["{a}", "{a}"], {"tolerance": "-10%"}, "is not a share"),
    ],
)
def test_wrong_usage_is_one_line(
    keep: Keep, arguments: list[str], options: dict[str, Any], words: str
) -> None:
    run = keep("a", libraries=["x", "y", "z"], sizes=[8])
    with pytest.raises(InputError, match=words):
        code(*(text.format(a=run) for text in arguments), **options)


def test_a_run_of_one_library_needs_a_second_run(keep: Keep) -> None:
    with pytest.raises(InputError, match="give a second run"):
        code(keep("a", libraries=["x"], sizes=[8]))


def test_names_with_markup_are_shown_as_text(
    keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    run = keep("a", libraries=["[red]x", "y"], slower={"[red]x": 1.3})
    assert code(run, mpi="y,[red]x") == 1
    assert "[red]x" in capsys.readouterr().out


def test_machines_are_compared_by_their_models_without_judgement(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert code("sp2-mpl", "sp2-pvme") == 0
    out = capsys.readouterr().out
    for words in ("One message", "latency t0", "47 µs", "104 µs", "pingpong", "B / A"):
        assert words in out
    assert "• barrier of 2 ranks: sp2-mpl is 22 times faster." in out
    assert "only sp2-mpl has it: allreduce, exchange, many-to-one" in out
    assert code("sp2-mpl", "spp1000-pvm", json=True, ranks="2,8", size="0,4K") == 0
    told = printed(capsys)
    barrier = next(one for one in told["patterns"] if one["pattern"] == "barrier")
    assert [curve["ranks"] for curve in barrier["curves"]] == [2, 8]
    assert barrier["rank_crossings"] == [{"bytes": 0, "ranks": 8, "faster": "A"}]
    assert told["report"] is None


def test_a_run_is_compared_with_a_machine_by_what_is_fitted_to_it(
    keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    run = keep("a", libraries=["mpich"])
    assert code(run, "sp2-mpl", json=True) == 0
    (pattern,) = printed(capsys)["patterns"]
    assert pattern["pattern"] == "pingpong"
    assert pattern["curves"][0]["points"][0]["ratio"] > 1
    two = keep("b", libraries=["mpich", "intel"])
    with pytest.raises(InputError, match="models of several libraries"):
        code(two, "sp2-mpl")
    assert code(f"{two}:mpich", "sp2-mpl") == 0


def test_a_page_of_machines_needs_no_network(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert code("sp2-mpl", "spp1000-pvm", report=page) == 0
    text = page.read_text()
    for words in ("<h1", "sp2-mpl and spp1000-pvm", "from 7844", 'data-spec="ratios"', "⇄"):
        assert words in text
    assert not re.search(r'(?:src|href)="https?:', text)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("sp2-mpl", "sp2"), {}, "unknown machine 'sp2'"),
        (("sp2-mpl", "sp2-pvme"), {"ranks": "x"}, "are no numbers of ranks"),
        (("sp2-mpl", "sp2-pvme"), {"mpi": "a,b,c"}, "not one or two names"),
        (("sp2-mpl:MPL", "sp2-pvme"), {"mpi": "MPL"}, "given twice"),
        (("sp2-mpl",), {}, "give a second machine to compare sp2-mpl with"),
        (("sp2-mpl:x", "sp2-pvme"), {}, "unknown library 'x'"),
    ],
)
def test_wrong_sides_of_machines_are_refused(
    arguments: tuple[str, ...], options: dict[str, str], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        code(*arguments, **options)


def test_runs_take_no_options_of_machines(keep: Keep, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="are for machines"):
        code(keep("a"), keep("b"), report=tmp_path / "page.html")


def test_several_runs_are_compared_with_the_first(
    keep: Keep, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b, c = keep("a"), keep("b", seed=2), keep("c", seed=3, slower={"mpich": 1.2})
    assert command(Request(a=a, b=(b, c), json=True)) == 1
    found = printed(capsys)
    assert found["baseline"] == a
    assert [one["run"] for one in found["comparisons"]] == [b, c]
    assert [one["verdict"] == "slower" for one in found["comparisons"]] == [False, True]
    assert found["comparisons"][0]["confidence"] == pytest.approx(0.96)
    assert command(Request(a=c, b=(a, b))) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"is faster than {c}" in out


def test_a_run_that_cannot_be_read_is_skipped_among_several(
    keep: Keep, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b, c = keep("a"), keep("b", seed=2), keep("c", seed=3, slower={"mpich": 1.2})
    failed = str(Run.create(tmp_path / "failed", {}).path)
    assert command(Request(a=a, b=(failed, b), json=True)) == 2
    ended = capsys.readouterr()
    answer = json.loads(ended.out)
    assert [row["run"] for row in answer["comparisons"]] == [b]
    assert [row["run"] for row in answer["skipped"]] == [failed]
    assert "holds no finished point" in answer["skipped"][0]["reason"]
    assert ended.err.startswith(f"nhalf: skipped: {failed}: ")
    assert command(Request(a=a, b=(failed, b, c))) == 1
    for baseline, *others in ((failed, a, b), (a, failed, failed)):
        with pytest.raises(InputError, match="holds no finished point"):
            command(Request(a=baseline, b=tuple(others)))


def test_machines_are_compared_two_at_a_time() -> None:
    with pytest.raises(InputError, match="two at a time"):
        command(Request(a="sp2-mpl", b=("sp2-pvme", "sp1-mpl")))


@pytest.mark.parametrize("short", ["openmpi-5.0.11", "openmpi-5", "openmpi"])
def test_a_library_is_looked_up_in_its_own_run(
    keep: Keep, capsys: pytest.CaptureFixture[str], short: str
) -> None:
    a = keep("a", libraries=["openmpi-4.1.2", "mpich-5.0.2"])
    b = keep("b", libraries=["openmpi-5.0.11", "openmpi-4.1.4"], seed=2)
    for sides in ((a, f"{b}:{short}"), (f"{b}:{short}", a), (f"{a}:openmpi", f"{b}:{short}")):
        code(*sides, json=True)
        pair = {name for curve in printed(capsys)["patterns"] for name in curve["mpi"].split(",")}
        assert pair == {"openmpi-4.1.2", "openmpi-5.0.11"}


def test_a_run_without_a_library_of_that_vendor_is_named(keep: Keep) -> None:
    a, b = keep("a", libraries=["mpich-5.0.2"]), keep("b", libraries=["openmpi-5.0.11"])
    with pytest.raises(InputError, match="a has no openmpi to compare with openmpi-5"):
        code(a, f"{b}:openmpi")
    with pytest.raises(InputError, match="unknown library 'intel' of a"):
        code(f"{a}:intel", b)


def test_a_run_beside_a_record_of_today_says_where_it_is_unlike(
    tmp_path: Path, make_measurements: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    curve = catalogue.machine("csd3-hdr100").models[0]
    frames = [
        make_measurements(
            libraries=["mpich"], sizes=[size], launches=3, launch_noise=0.0, noise=0.0,
            placement="other-node", algorithm="native",
            samples_s=[curve.time_s(size) * (1.5 if 16384 <= size <= 65536 else 1)] * 3,
        )
        for size in curve.end_bytes
    ]  # fmt: skip
    run = tmp_path / "today"
    Run.create(run, {"environment": {}, "plan": {}, "titles": {}})
    pl.concat(frames).collect().drop("run").write_parquet(
        run / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)}
    )
    assert code(str(run), "csd3-hdr100") == 0
    assert (
        f"{run} does what csd3-hdr100's did within 10 %, but for 16 to 64 KiB (1.5 times as long)."
    ) in capsys.readouterr().out
    assert code("csd3-hdr100", str(run), json=True) == 0
    (likeness,) = printed(capsys)["likeness"]
    (unlike,) = likeness["unlike"]
    assert (unlike["from_bytes"], unlike["to_bytes"]) == (16384, 65536)
    assert code("sp2-mpl", "csd3-hdr100", json=True) == 0
    assert printed(capsys)["likeness"] == []
