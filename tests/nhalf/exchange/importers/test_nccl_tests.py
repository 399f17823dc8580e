"""nccl-tests: in place and out of place, blocks instead of totals, and JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.logs.log import Log, read_text

Read = Callable[..., Log]


def test_both_ways_are_points(read: Read) -> None:
    log = read("nccl_all_gather.txt")
    assert {(p.pattern, p.transport, p.mpi, p.ranks) for p in log.points} == {
        ("allgather", "nccl", "", 4)
    }
    # All-gather is counted by the block of one rank: 64 floats, not the 1024 bytes of all.
    assert [(p.size_bytes, dict(p.axes), *p.samples_s) for p in log.points] == [
        (256, {}, pytest.approx(20.5e-6)),
        (256, {"place": "in"}, pytest.approx(19.75e-6)),
        (268435456, {}, pytest.approx(4000.5e-6)),
        (268435456, {"place": "in"}, pytest.approx(12e-3)),
    ]


def test_wrong_elements_are_told(read: Read) -> None:
    assert [p.verified for p in read("nccl_all_gather.txt").points] == [True, False, True, True]


def test_older_tables_have_no_root_and_print_an_error(read: Read) -> None:
    log = read("nccl_all_reduce_old.txt")
    assert [(p.pattern, p.ranks, p.size_bytes, p.verified) for p in log.points] == [
        ("allreduce", 2, 8, True),
        ("allreduce", 2, 8, True),
        ("allreduce", 2, 134217728, True),
        ("allreduce", 2, 134217728, True),
    ]


def test_json_has_iterations_as_samples(read: Read) -> None:
    first, second, third = read("nccl_tests.json").points
    assert (first.pattern, first.ranks, first.size_bytes) == ("reduce-scatter", 2, 1048576)
    assert first.samples_s == pytest.approx([51e-6, 52e-6, 53.75e-6])
    assert (first.raw, second.raw) == (True, False)
    assert first.values == pytest.approx(
        {"average_s": 52.25e-6, "algbw_Bps": 20.1e9, "busbw_Bps": 10.0e9}
    )
    assert (dict(second.axes), second.verified) == ({"place": "in"}, False)
    assert (third.size_bytes, *third.samples_s) == (2097152, pytest.approx(100.5e-6))


def test_json_that_was_cut_keeps_its_whole_records(logs: Path) -> None:
    text = (logs / "nccl_tests.json").read_text("utf-8")
    log = read_text(text[: text.index("100.5")])
    assert len(log.points) == 2
    assert len(log.passed_over) == 1


def test_names_and_columns_of_iterations() -> None:
    text = """# nThread 1 nGpus 2
#  Rank  0 Group  0 Pid 1 on n device 0 [0000:30:00] X
#  Rank  1 Group  0 Pid 1 on n device 1 [0000:40:00] X
# size count type redop root {half} {half} timestamp
8 2 float sum -1 10.0 0.1 0.1 0 9.0 12.0 11.0 0.1 0.1 0 10.5 13.0 2026-01-01 10:00:00
"""
    half = "time algbw busbw #wrong i_min i_max"
    first, second = read_text(text.replace("{half}", half)).points
    assert first.pattern == "allreduce"
    assert first.values == pytest.approx(
        {"minimum_s": 9e-6, "maximum_s": 12e-6, "algbw_Bps": 1e8, "busbw_Bps": 1e8}
    )
    assert second.samples_s == pytest.approx([11e-6])


ROWS = """{command}
{mark} nThread 1 nGpus 1 minBytes 1048576 maxBytes 1048576 validation: 1
{mark} Using devices
{mark}   Rank  0 Pid 11 on alpha device  0 [0x00] GPU
{mark}   Rank  3 Pid 14 on alpha device  3 [0x00] GPU
{mark}     size      count  type redop  root   time  algbw  busbw error  time  algbw  busbw error
{mark}      (B) (elements)                     (us) (GB/s) (GB/s)        (us) (GB/s) (GB/s)
   1048576    {count}  float {redop} {root} 100.00 10.49 15.73 0e+00 101.00 10.38 15.57 0e+00
"""


def rows(**values: object) -> str:
    return ROWS.format(**{"command": "", "mark": "#", "count": 262144, **values})


@pytest.mark.parametrize("mark", ["#", ""])
@pytest.mark.parametrize("name", ["all_gather_perf", "all_gather_perf_mpi", "/opt/all_gather_perf"])
def test_names_of_programs_and_tables_that_lost_their_hashes(mark: str, name: str) -> None:
    text = rows(
        mark=mark, command=f"$ mpirun -np 4 {name} -b 1M", count=65536, redop="none", root=-1
    )
    out, in_place = read_text(text).points
    assert (out.pattern, out.ranks, out.size_bytes) == ("allgather", 4, 262144)
    assert (*out.samples_s, *in_place.samples_s) == pytest.approx((100e-6, 101e-6))


@pytest.mark.parametrize(
    ("count", "redop", "root", "pattern"),
    [(262144, "sum", -1, "allreduce"), (65536, "sum", -1, "reduce-scatter"),
     (262144, "sum", 0, "reduce")],
)  # fmt: skip
def test_reductions_follow_from_the_columns(
    count: int, redop: str, root: int, pattern: str
) -> None:
    out, _ = read_text(rows(count=count, redop=redop, root=root)).points
    assert (out.pattern, out.size_bytes) == (pattern, 1048576)


def test_what_the_columns_leave_open_is_asked_for() -> None:
    text = rows(count=65536, redop="none", root=-1)
    with pytest.raises(InputError, match="does not name the operation") as caught:
        read_text(text, name="log")
    assert "--pattern" in str(caught.value)
    out, _ = read_text(text, pattern="alltoall").points
    assert (out.pattern, out.size_bytes) == ("alltoall", 262144)


ONE_HALF = """# nThread 1 nGpus 2 minBytes 8 maxBytes 128 step: 2(factor)
# all_reduce_perf
#       size         count      type   redop    root     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)
      1024           256     float     sum      -1    35.49    0.03    0.05       0
"""


def test_a_table_may_have_one_half() -> None:
    (point,) = read_text(ONE_HALF, ranks=2).points
    assert (point.samples_s[0], dict(point.axes)) == (pytest.approx(35.49e-6), {})
    for unit in ("(ms)", "(MB)"):
        other = ONE_HALF.replace("(us)" if unit == "(ms)" else "(B)", unit)
        assert read_text(other, ranks=2).points == []


def test_a_row_that_was_cut_is_out_of_place() -> None:
    half = "    time   algbw   busbw  #wrong"
    text = ONE_HALF.replace("#wrong\n", f"#wrong{half}\n", 1)
    (cut,) = read_text(text, ranks=2).points
    assert dict(cut.axes) == {}
    (replay,) = read_text(text.replace("-1    35", "-1" + " " * 40 + "35"), ranks=2).points
    assert dict(replay.axes) == {"place": "in"}


def test_old_versions_leave_the_operation_of_an_alltoall_blank() -> None:
    half = "    time   algbw   busbw  error"
    text = (
        "# alltoall_perf\n# nThread 1 nGpus 8 minBytes 1 maxBytes 64 step: 2(factor)\n"
        f"#       size         count    type   redop {half} {half}\n"
        "          64             2   float            86.83    0.00    0.00    N/A"
        "    85.77    0.00    0.00    N/A\n"
    )
    out, within = read_text(text, ranks=8).points
    assert (out.pattern, out.size_bytes) == ("alltoall", 8)
    assert (out.samples_s[0], within.samples_s[0]) == pytest.approx((86.83e-6, 85.77e-6))


def test_rows_without_data_do_not_refuse_a_reduction() -> None:
    first = "         0             0     float     sum      -1    35.49    0.00    0.00       0\n"
    text = ONE_HALF.replace("# all_reduce_perf\n", "").replace("      1024", first + "      1024")
    (point,) = read_text(text, ranks=2, name="log").points
    assert (point.pattern, point.size_bytes) == ("allreduce", 1024)


JSON = """{"version":3,"args":["all_reduce_perf","-g","2"],"nccl_version":23007,"config":{
"nthreads":1,"ngpus":2,"devices":[{"rank":0,"device_hex":"0"},{"rank":2,"device_hex":"0"}]},
"results":[{"size":1024,"count":256,"type":"float","redop":"max","root":"    -1",
"out_of_place":{"time":20.5,"alg_bw":0.05,"bus_bw":0.075,"nwrong":0.0},
"out_of_place_per_iter":{"skipped_iterations":1,"times_us":[900.0,20.0,21.0]}}]}"""


def test_json_holds_one_rank_of_a_process_and_all_iterations() -> None:
    (point,) = read_text(JSON).points
    assert (point.pattern, point.ranks) == ("allreduce", 4)
    # The first is one that -K left out of the statistics.
    assert point.samples_s == pytest.approx([20e-6, 21e-6])
    assert dict(point.axes) == {"op": "max"}
    assert point.values["busbw_Bps"] == pytest.approx(75e6)
    assert point.head["datatype"] == "float"


def test_cycles_of_one_process_are_samples_and_no_launches() -> None:
    row = ONE_HALF.splitlines(keepends=True)[-1]
    (point,) = read_text(ONE_HALF + row.replace("35.49", "37.25"), ranks=2).points
    assert point.samples_s == pytest.approx([35.49e-6, 37.25e-6])
    assert point.raw
    first, second = read_text(ONE_HALF + ONE_HALF, ranks=2).points
    assert first.table != second.table
