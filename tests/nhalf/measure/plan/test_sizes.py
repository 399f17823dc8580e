from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nhalf.base.errors import InputError
from nhalf.measure.plan.sizes import (
    SIZES_MAX,
    array_bytes,
    b_eff_lengths,
    b_eff_longest,
    memory_bytes,
    parse_sizes,
    sizes_of,
)


@pytest.mark.parametrize(
    ("text", "sizes", "adaptive"),
    [
        ("0", (0,), False),
        ("8,0,4K,8", (0, 8, 4096), False),
        (" 1 , 2KiB ", (1, 2048), False),
        ("0:10:5", (0, 5, 10), False),
        ("0:11:5", (0, 5, 10), False),
        ("3:3:1", (3,), False),
        ("0:8", (0, 1, 2, 4, 8), True),
        ("3:9", (3, 4, 8, 9), True),
        ("0:0", (0,), True),
        ("7:7", (7,), True),
        ("1m:2M", (2**20, 2**21), True),
    ],
)
def test_ranges_lists_and_grids(text: str, sizes: tuple[int, ...], adaptive: bool) -> None:
    parsed = parse_sizes(text)
    assert parsed.size_bytes == sizes
    assert parsed.adaptive == adaptive


def test_the_default_range_has_24_sizes() -> None:
    assert len(parse_sizes("0:4M").size_bytes) == 24


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "''"),
        (" ", "not a size"),
        (",", "not a size"),
        ("8,", "not a size"),
        (":", "not a size"),
        ("0:", "not a size"),
        (":4M", "not a size"),
        ("0:4M:", "not a size"),
        ("0:1:1:1", "not a range"),
        ("-1", "'-1' is not a size"),
        ("1.5K", "'1.5K'"),
        ("4X", "'4X'"),
        ("nan", "'nan'"),
        ("1e3", "'1e3'"),
        ("0x10", "'0x10'"),
        ("4 K 4", "not a size"),
        ("8;16", "'8;16'"),
        ("8:4", "write 4:8"),
        ("0:100:0", "step of 0"),
        ("2T", "too large"),
        ("9" * 30, "too large"),
        ("0:1T:1", f"more than {SIZES_MAX}"),
        (f"0:{SIZES_MAX}:1", f"more than {SIZES_MAX}"),
    ],
)
def test_anything_else_is_one_clear_line(text: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_sizes(text)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


def test_the_largest_grid() -> None:
    assert len(parse_sizes(f"1:{SIZES_MAX}:1").size_bytes) == SIZES_MAX


@given(some.integers(0, 2**40), some.integers(0, 2**40))
def test_a_range_holds_its_ends_and_doubles_in_between(low: int, high: int) -> None:
    low, high = sorted((low, high))
    sizes = parse_sizes(f"{low}:{high}").size_bytes
    assert sizes[0] == low
    assert sizes[-1] == high
    assert list(sizes) == sorted(set(sizes))
    assert all(size & (size - 1) == 0 for size in sizes[1:-1])
    assert all(b <= 2 * max(a, 1) for a, b in itertools.pairwise(sizes) if a)


@given(some.text(max_size=12))
def test_no_text_is_anything_but_sizes_or_an_input_error(text: str) -> None:
    try:
        parsed = parse_sizes(text)
    except InputError:
        return
    assert parsed.size_bytes


def test_b_eff_has_its_21_lengths() -> None:
    """1, 2, 4 to 4096, then eight equal factors up to the longest."""
    lengths = sizes_of("b_eff:1M", ranks=2).size_bytes
    assert lengths[:13] == tuple(2**k for k in range(13))
    assert lengths[13:] == (8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576)
    assert not sizes_of("b_eff", ranks=2).adaptive
    assert len(sizes_of("b_eff", ranks=2).size_bytes) == 21


@pytest.mark.parametrize(
    ("host_bytes", "ranks", "longest_bytes"),
    [(2**30, 2, 2**22), (2**36, 4, 2**27), (2**50, 1, 2**27), (2**34, 3, 2**34 // 3 // 128)],
)
def test_the_longest_is_a_128th_of_the_memory_of_a_process(
    host_bytes: int, ranks: int, longest_bytes: int
) -> None:
    assert b_eff_longest(host_bytes, ranks) == longest_bytes
    assert b_eff_lengths(longest_bytes)[-1] == longest_bytes


@pytest.mark.parametrize("text", ["b_eff:4K", "b_eff:x", "b_eff,8"])
def test_other_b_eff_is_one_clear_line(text: str) -> None:
    with pytest.raises(InputError):
        sizes_of(text, ranks=2)


def test_other_texts_are_read_as_ever() -> None:
    assert sizes_of("0:64", ranks=2) == parse_sizes("0:64")


@pytest.mark.parametrize(
    ("all_caches_MiB", "host_MiB", "array_MiB"),
    [(32, 65536, 128), (480, 24064, 1920), (480, 8192, 1024), (0, 8192, 1), (32, 4, 1)],
)
def test_an_array_of_stream_is_four_times_all_caches_where_memory_allows(
    all_caches_MiB: int, host_MiB: int, array_MiB: int
) -> None:
    assert array_bytes(all_caches_MiB << 20, host_MiB << 20) == array_MiB << 20


def test_the_size_memory_is_one_that_a_probe_can_have() -> None:
    (size_bytes,) = sizes_of("memory", 1).size_bytes
    assert 0 < size_bytes <= memory_bytes() // 8
    assert sizes_of("memory", 64) == sizes_of("memory", 1)
