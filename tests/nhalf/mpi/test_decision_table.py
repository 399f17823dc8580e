"""Decision tables: what is written can be read, what is none is refused with its line."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.base.errors import InputError
from nhalf.mpi.decision_table import FIRST_LINE, Rule, choice, read_table, rules_of, table_text

ALGORITHMS = ("native", "binomial", "chain")
grids = st.tuples(
    st.lists(st.integers(2, 300), min_size=1, max_size=5, unique=True).map(sorted),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=5, unique=True).map(sorted),
).flatmap(
    lambda both: st.tuples(
        *map(st.just, both),
        st.lists(
            st.lists(st.sampled_from(ALGORITHMS), min_size=len(both[1]), max_size=len(both[1])),
            min_size=len(both[0]),
            max_size=len(both[0]),
        ),
    )
)


@given(grids)
def test_every_cell_of_a_grid_gets_its_choice(
    grid: tuple[list[int], list[int], list[list[str]]],
) -> None:
    ranks, sizes, chosen = grid
    rules = rules_of("bcast", ranks, sizes, chosen)
    for i, p in enumerate(ranks):
        for j, n in enumerate(sizes):
            assert choice(rules, "bcast", p, n) == chosen[i][j]
            assert (
                choice(rules, "bcast", p, n + 10**9 if j == len(sizes) - 1 else n) == chosen[i][j]
            )
    assert choice(rules, "bcast", ranks[-1] + 1, sizes[0]) == "native"
    assert choice(rules, "reduce", ranks[0], sizes[0]) == "native"


@given(grids)
def test_what_is_written_is_read(grid: tuple[list[int], list[int], list[list[str]]]) -> None:
    import tempfile

    rules = rules_of("allreduce", *grid)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table")
        path.write_text(table_text(rules, ["chosen for a test"]))
        assert read_table(path) == rules


def test_equal_choices_are_one_rule() -> None:
    chosen = [["binomial"] * 3] * 4
    assert rules_of("bcast", [2, 3, 4, 5], [0, 8, 64], chosen) == [
        Rule("bcast", 2, 5, 0, math.inf, "binomial")
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "first line"),
        ("# nhalf decision table 3\n", "first line"),
        (f"{FIRST_LINE}\nbcast 2 4 0 10\n", "line 2.*no rule"),
        (f"{FIRST_LINE}\n\nbcast 2 4 0 ten binomial\n", "line 3.*not a number"),
        (f"{FIRST_LINE}\nbroadcast 2 4 0 10 binomial\n", "line 2.*broadcast"),
        (f"{FIRST_LINE}\nbcast 4 2 0 10 binomial\n", "without a number"),
        (f"{FIRST_LINE}\nbcast inf inf 0 10 binomial\n", "without a number"),
        (f"{FIRST_LINE}\nbcast -1 2 0 10 binomial\n", "not a number"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "table"
    path.write_text(text)
    with pytest.raises(InputError, match=reason):
        read_table(path)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_table(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot read"):
        read_table(tmp_path / "binary")


def test_parts_are_a_column_and_former_tables_have_none(tmp_path: Path) -> None:
    chosen = [["binomial", "chain", "chain", "chain"]]
    parts = [[None, None, 16384, 16384]]
    rules = rules_of("bcast", [8], [0, 8192, 65536, 131072], chosen, parts)
    text = table_text(rules)
    assert text.splitlines() == [
        "# nhalf decision table 2",
        "# operation ranks_from ranks_to bytes_from bytes_to algorithm part",
        "bcast 8 8 0 8191 binomial",
        "bcast 8 8 8192 65535 chain",
        "bcast 8 8 65536 inf chain 16384",
    ]
    path = tmp_path / "table"
    path.write_text(text)
    assert read_table(path) == rules
    former = f"{FIRST_LINE}\nbcast 8 8 0 inf chain\n"
    path.write_text(former)
    assert read_table(path) == [Rule("bcast", 8, 8, 0, math.inf, "chain")]
    assert table_text(read_table(path)).splitlines()[0] == FIRST_LINE


@pytest.mark.parametrize("part", ["0", "inf", "-1", "8K", "16 16"])
def test_a_part_that_is_no_size_is_refused_with_its_line(part: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text(f"# nhalf decision table 2\nbcast 2 8 0 inf chain {part}\n")
    with pytest.raises(InputError, match="line 2"):
        read_table(path)
