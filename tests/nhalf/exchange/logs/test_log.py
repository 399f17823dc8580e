"""A log as a whole: encodings, locales, tags of launchers, several suites, nothing at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.base.plugins import load
from nhalf.exchange.logs.log import Log, decode, formats, read_file, read_text
from nhalf.exchange.styles import Style
from nhalf.facts.facts import Facts

Read = Callable[..., Log]
OSU = """# OSU MPI Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       2.00
1000000             12500.00
"""


def test_every_format_is_known() -> None:
    assert sorted(formats()) == [
        "gpcnet", "hpcc", "imb", "mpigraph", "nccl-tests", "netpipe", "nvbandwidth",
        "osu", "perftest", "reprompi", "ucx-perftest",
    ]  # fmt: skip


def test_several_suites_in_one_file(read: Read) -> None:
    log = read("mixed.txt")
    assert log.suites == ["osu", "imb", "mpigraph"]
    assert [(p.pattern, p.size_bytes) for p in log.points] == [
        ("pingpong", 8), ("pingpong", 32), ("pingpong", 8), ("distance", 8), ("distance", 8),
    ]  # fmt: skip
    assert [(p.line, p.text) for p in log.passed_over] == [
        (6, "16      [n1:12346] interleaved   3.50"),
        (14, "16         10"),
    ]
    again = read_text(OSU + "START mpiGraph v1\n" + OSU)
    first, _, second, _ = again.points
    assert (first.pattern, first.size_bytes) == (second.pattern, second.size_bytes)
    assert first.table != second.table


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(encoding: str, end: str) -> None:
    plain = read_text(OSU)
    assert len(plain.points) == 2
    assert read_text(decode(OSU.replace("\n", end).encode(encoding))) == plain


def test_big_endian_utf_16() -> None:
    assert len(read_text(decode(b"\xfe\xff" + OSU.encode("utf-16-be"))).points) == 2


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ("2,00", "12500,00"),
        ("2,00", "12.500,00"),
        ("2.00", "12,500.00"),
        ("2,00", "12\xa0500,00"),
        ("2,00", "12\u202f500,00"),
        ("2.00", "12'500.00"),
        ("2e0", "1.25e4"),
        ("+2.0", "12500"),
    ],
)
def test_locales(small: str, large: str) -> None:
    log = read_text(OSU.replace("12500.00", large).replace("2.00", small, 1))
    assert [p.samples_s[0] for p in log.points] == pytest.approx([0.5e-6, 80e-6])


def test_a_log_that_lost_its_ranks_takes_those_of_the_user(read: Read, logs: Path) -> None:
    text = (logs / "nccl_all_gather.txt").read_text("utf-8").replace("#  Rank", "#  Rang")
    assert {p.ranks for p in read_text(text, 4).points} == {4}
    assert {p.ranks for p in read_text(text).points} == {0}


def test_points_that_group_digits_where_commas_are_decimal() -> None:
    text = OSU.replace("1000000 ", "1.000.000 ").replace("12500.00", "12.500,00")
    log = read_text(text.replace("2.00", "2,00"))
    assert [(p.size_bytes, p.samples_s[0]) for p in log.points] == [
        (1, pytest.approx(0.5e-6)),
        (1000000, pytest.approx(80e-6)),
    ]


def test_padding_with_unbreakable_spaces_is_padding() -> None:
    assert read_text(OSU.replace(" ", "\xa0").replace("#\xa0OSU\xa0", "# OSU ")).points
    size = OSU.replace("1000000  ", "1\xa0000\xa0000  ")
    assert [p.size_bytes for p in read_text(size).points] == [1, 1000000]


@pytest.mark.parametrize(
    "tag", ["[1,0]<stdout>:", "[1,0]<stdout> ", "0: ", " 0: ", "[0] ", "2024-05-01T12:34:56.123Z "]
)
def test_tags_of_launchers(tag: str) -> None:
    assert read_text("".join(tag + line for line in OSU.splitlines(True))) == read_text(OSU)


def test_numbers_that_no_log_can_mean() -> None:
    for token in ("nan", "-inf", "1e999", "1_000", "0x10", "٣", "1,2,3", "--1", "1e", ""):
        log = read_text(OSU + f"64   {token}\n")
        assert len(log.points) == (3 if token == "٣" else 2), token


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"\x7fELF\x00\x01\x02", "is binary"),
        (b"a letter\n", "has no known format"),
        (b"# OSU MPI Latency Test v7.5\n", "holds no result, though it looks like OSU"),
        ("# OSU MPI Latency Test".encode("utf-16"), "holds no result"),
    ],
)
def test_nothing_to_read_is_one_clear_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        read_file(path)
    assert "known are logs of GPCNeT" in str(caught.value)


def test_no_file_a_folder_and_a_file_that_is_not_for_us(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_file(tmp_path / "none")
    with pytest.raises(InputError, match="is a folder"):
        read_file(tmp_path)
    with pytest.raises((InputError, MissingError)):
        read_file(tmp_path / ("x" * 5000))


def test_zeros_of_a_crash_do_not_hide_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(OSU.rstrip().encode() + bytes(4096))
    assert len(read_file(path)[0].points) == 2


@pytest.mark.parametrize(
    "prefix",
    [
        "Wed Mar 04 08:00:0{} 2015[1,0]<stdout>:",
        "[1,0]<stdout>:",
        "[0] ",
        "0: ",
        " 0: ",
        "2024-05-01T12:34:5{}.123456789Z ",
        "[2024-05-01T12:34:5{}.123Z] ",
        "2024-05-01T12:34:5{}.123456Z 00O ",
        "2024-05-01 12:34:5{},123 INFO osu_{}.py:1{} - ",
        "May 01 12:34:5{} node1 slurmd[12{}]: ",
        "<13>May  1 12:34:5{} node1 app: ",
        "> ",
        "    ",
        "\t",
        "| ",
        "[pod/osu-launcher-{}/osu] ",
        "12:34:5{}  ",
    ],
)
def test_what_stands_before_every_line_is_taken_off(prefix: str) -> None:
    lines = enumerate(OSU.splitlines(True))
    text = "".join(prefix.replace("{}", str(number)) + line for number, line in lines)
    assert read_text(text) == read_text(OSU)
    # So it is where other text stands between.
    assert read_text(f"module load mpi\n{text}done\n").points == read_text(OSU).points


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```\n", "```\n"),
        ("<html><body><pre>", "</pre></body></html>"),
        ("\x1b[32;1m", "\x1b[0m\n"),
        ("\ufeff", ""),
        (
            "------------------\nWARNING: default\n-----------\n",
            "-----------\nunloaded\n----------\n",
        ),
    ],
)
def test_what_stands_around_a_log_is_no_damage(before: str, after: str) -> None:
    log = read_text(before + OSU + after)
    assert (log.points, log.passed_over) == (read_text(OSU).points, [])


def test_pages_and_containers() -> None:
    rows = [line.split("  ", 1) for line in OSU.splitlines()[3:]]
    cells = "".join(f"<tr><td>{a}</td><td>{b.strip()}</td></tr>" for a, b in rows)
    page = "# OSU MPI Bandwidth Test v7.5<br># Datatype: MPI_CHAR.<br>\n"
    page += "# Size&nbsp;&nbsp;Bandwidth (MB/s)<br>\n"
    assert read_text(f"{page}<table>{cells}</table>").points == read_text(OSU).points
    json_lines = "".join(
        f'{{"log":"{line}\\n","stream":"stdout","time":"2024-05-01T12:34:56Z"}}\n'
        for line in OSU.splitlines()
    )
    assert read_text(json_lines) == read_text(OSU)


TABLE = "# OSU MPI Broadcast Latency Test v7.2\n# Size       Avg Latency(us)\n16   {}\n"


def test_a_count_for_each_table_that_has_none() -> None:
    text = TABLE.format("40.00") + "now with 36 ranks\n" + TABLE.format("10.00")
    assert [p.ranks for p in read_text(text, (40, 36), "log").points] == [40, 36]
    for given in (0, 40):
        with pytest.raises(InputError, match="2 tables of MPI Broadcast Latency") as caught:
            read_text(text, given, "log")
        assert "in their order" in str(caught.value)
    with pytest.raises(InputError, match="2 tables without a number of ranks, and --ranks gives 3"):
        read_text(text, (40, 36, 2), "log")


def test_counts_that_the_log_has_are_not_overridden_by_one() -> None:
    text = "srun -n 4 osu_bcast\n{}srun -n 8 osu_bcast\n{}".format(*[TABLE.format("1.0")] * 2)
    log = read_text(text, 0, "log")
    assert [p.ranks for p in log.points] == [4, 8]
    assert [(c.ranks, c.line) for c in log.counts] == [(4, 1), (8, 5)]
    with pytest.raises(InputError, match="of 4 and 8 ranks"):
        read_text(text, 16, "log")
    one = f"{TABLE.format('1.0')}srun -n 8 osu_bcast\n{TABLE.format('2.0')}"
    assert [p.ranks for p in read_text(one, 0).points] == [0, 8]


PATTERNS = ("pingpong", "pingping", "exchange", "stream", "allreduce", "reduce-scatterv", "bcast")


@pytest.mark.parametrize(
    ("style", "patterns"),
    [("imb", PATTERNS), ("osu", [p for p in PATTERNS if p not in ("pingping", "exchange")])],
)
def test_what_nhalf_prints_in_their_style_is_read_back(
    style: str, patterns: list[str], make_measurements: Callable[..., Any]
) -> None:
    measured = make_measurements(
        patterns=patterns, sizes=(4, 5000), launches=2, noise=0.0, launch_noise=0.0
    )
    log = read_text(load("nhalf.exchange.styles", Style)[style]().text(Facts(measured)), ranks=2)
    assert log.passed_over == []
    assert {p.pattern for p in log.points} == set(patterns)
    for point in log.points:
        assert point.ranks == 2
        time_s = 1e-6 + point.size_bytes / 5e9
        # Two decimals of a microsecond, or of megabytes per second.
        assert point.samples_s[0] == pytest.approx(time_s, abs=0.006e-6)


def test_a_list_with_commas_is_no_decimal_comma() -> None:
    text = (
        "1 process on the cores 0,32\n# OSU MPI Latency Test v5.6.3\n# Size          Latency (us)\n"
        "1   0.30\n2   1.234\n4   1,234.50\n"
    )
    times_us = [point.samples_s[0] * 1e6 for point in read_text(text, name="log").points]
    assert times_us == pytest.approx([0.3, 1.234, 1234.5])


def test_exported_variables_belong_to_the_command() -> None:
    table = (
        "mpirun -n 2 osu_bw\n# OSU MPI Bandwidth Test v7.0\n# Size      Bandwidth (MB/s)\n8  {}\n"
    )
    text = (
        "export HIP_VISIBLE_DEVICES=0,1\n" + table.format("100.0")
        + "$ export HIP_VISIBLE_DEVICES=0,2\n" + table.format("50.0")
        + "unset HIP_VISIBLE_DEVICES\n" + table.format("25.0")
    )  # fmt: skip
    commands = [point.head["command"] for point in read_text(text, name="log").points]
    assert [command.partition(" ")[0] for command in commands[:2]] == [
        "HIP_VISIBLE_DEVICES=0,1",
        "HIP_VISIBLE_DEVICES=0,2",
    ]
    assert "HIP" not in commands[2]
