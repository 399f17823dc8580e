"""Rules before those of a file that is in use already: they decide at their sizes and ranks alone.

The libraries run in virtual time, where what an algorithm takes is the same in every launch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.mpi.coll_tuned import beside
from nhalf.mpi.decision_table import NATIVE, Rule, changed_between, choice
from nhalf.mpi.tuning import tuner_for
from nhalf.mpi.tuning_files.openmpi_json import json_text, json_with, read_json
from nhalf.mpi.tuning_files.openmpi_rules import (
    OPERATION_IDS,
    file_text,
    read_file,
    read_rules,
    rules_text,
    with_rules,
)
from tests.nhalf.measure.virtual.programs import library_of
from tests.nhalf.mpi.tuning_files.test_applied import RANKS, SAME, SIZES, times_us
from tests.nhalf.mpi.tuning_files.test_openmpi_rules import fan_of, names_of, number_of

HERE = Path("my.rules")
CELL = Rule("bcast", 4, 4, 1024, 2047, "pipeline:8192")
ENDS = st.sampled_from([0, 1, 3, 4, 5, 8, 1023, 1024, 2048, 5000])
ANY_RULE = st.builds(
    lambda operation, algorithm, ranks, sizes: Rule(
        operation, min(ranks), max(ranks), min(sizes), max(sizes), algorithm
    ),
    st.sampled_from(["bcast", "barrier"]),
    st.just(NATIVE) | st.sampled_from(["linear", "basic_linear"]),
    st.tuples(ENDS, ENDS),
    st.tuples(ENDS, ENDS | st.just(math.inf)),
).map(
    lambda rule: Rule(
        rule.operation,
        rule.from_ranks,
        rule.to_ranks,
        rule.from_bytes,
        rule.to_bytes,
        {"bcast": "basic_linear", "barrier": "linear"}[rule.operation],
    )
)
FOREIGN = """\
rule-file-version-2
2 # collectives
1 # allgatherv, of which nhalf knows no algorithm
1
16 2 # from 16 ranks on, and so for fewer
0 3 0 0
4096 5 2 8192 7
7 # bcast
1
64 2
0 6 4 0 3
8192 3 0 65536
"""


def test_what_a_file_says_of_other_calls_stays_to_the_number() -> None:
    text = file_text(with_rules(read_file(HERE, FOREIGN), [CELL], number_of, fan_of))
    assert text.splitlines() == [
        *["rule-file-version-2", "2", "1", "1", "16 2", "0 3 0 0", "4096 5 2 8192 7", "7", "3"],
        *["0 2", "0 6 4 0 3", "8192 3 0 65536"],
        *["4 4", "0 6 4 0 3", "1024 3 0 8192", "2048 6 4 0 3", "8192 3 0 65536"],
        *["5 2", "0 6 4 0 3", "8192 3 0 65536"],
    ]


def test_an_operation_that_the_file_does_not_have_is_added() -> None:
    tree = Rule("barrier", 8, 8, 0, math.inf, "tree")
    text = file_text(with_rules(read_file(HERE, "1 7 1 0 1 0 6 0 0"), [tree], number_of, fan_of))
    assert text.splitlines()[5:] == ["6", "3", "0 1", "0 0 0 0", "8 1", "0 6 0 0", "9 1", "0 0 0 0"]


def test_sizes_of_all_blocks_are_those_of_each_number_of_ranks() -> None:
    rule = Rule("allgather", 2, 3, 512, 1023, "ring")
    file = with_rules(read_file(HERE, "1 0 1 0 1 0 2 0 0"), [rule], number_of, fan_of)
    begins = {ranks: [size for size, _ in steps] for ranks, steps in file.blocks[0]}
    assert begins == {0: [0], 2: [0, 1024, 2048], 3: [0, 1536, 3072], 4: [0]}
    assert read_rules(HERE, file_text(file), names_of) == [
        Rule("allgather", 0, 1, 0, math.inf, "bruck"),
        *(
            Rule("allgather", ranks, ranks, *between)
            for ranks in (2, 3)
            for between in ((0, 511, "bruck"), (512, 1023, "ring"), (1024, math.inf, "bruck"))
        ),
        Rule("allgather", 4, math.inf, 0, math.inf, "bruck"),
    ]


@given(st.lists(ANY_RULE, min_size=1, max_size=4), ANY_RULE, ENDS, ENDS)
def test_rules_decide_where_they_hold_and_the_file_elsewhere(
    own: list[Rule], added: Rule, ranks: int, size_bytes: int
) -> None:
    text = rules_text(own, number_of, fan_of, version=1)
    extended = file_text(with_rules(read_file(HERE, text), [added], number_of, fan_of))
    rules = read_rules(HERE, extended, names_of)
    before = read_json(HERE, json_text(own, fan_of), numbers_of)
    merged = json_with(json_text(own, fan_of), json_text([added], fan_of))
    after = read_json(HERE, merged, numbers_of)
    for operation in {rule.operation for rule in [*own, added]} & set(OPERATION_IDS):
        expected = choice([added, *own], operation, ranks, size_bytes)
        assert choice(rules, operation, ranks, size_bytes) == expected
        assert choice([added, *before], operation, ranks, size_bytes) == expected
        assert choice(after, operation, ranks, size_bytes) == expected


def numbers_of(operation: str) -> Mapping[str, int]:
    return {name: number for number, name in names_of(operation).items()}


def test_a_block_of_json_goes_on_with_the_rules_that_held_for_its_ranks() -> None:
    """The library may look no further than the first block for its ranks."""
    own = json_text([Rule("bcast", 2, 8, 0, math.inf, "binomial")], fan_of)
    merged = json_with(own, json_text([CELL], fan_of))
    first = read_json(HERE, merged, numbers_of)[:2]
    assert first == [CELL, Rule("bcast", 4, 4, 0, math.inf, "binomial")]


def test_steps_are_changed_between_two_sizes_alone() -> None:
    steps = [(0, "a"), (10, "b")]
    assert changed_between(steps, 5, 14, lambda at, before: f"{before}{at}") == [
        *[(0, "a"), (5, "a5"), (10, "b10"), (15, "b")]
    ]
    assert changed_between(steps, 10, math.inf, lambda *_: "c") == [(0, "a"), (10, "c")]
    assert changed_between([(0, "a")], 0, 0, lambda *_: "c") == [(0, "c"), (1, "a")]


OWN = {"mpich": "scatter_ring_allgather", "openmpi": "basic_linear", "intel": "4"}
ADDED = {"mpich": "binomial", "openmpi": "pipeline", "intel": "3"}
HELD = {"mpich": "pairwise", "openmpi": "pairwise", "intel": "2"}


def own_file(vendor: str, folder: Path) -> dict[str, str]:
    """The variables of a user's file: an algorithm of bcast for all sizes, one of alltoall."""
    tuner = tuner_for(library_of(vendor))
    path = folder / f"own-{tuner.file_name}"
    rules = [
        Rule("bcast", 2, math.inf, 8, math.inf, OWN[vendor]),
        Rule("alltoall", RANKS, RANKS, 8, math.inf, HELD[vendor]),
    ]
    tuner.write(path, rules)
    return tuner.activate(path)


def own_and_extended(vendor: str, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The variables of a user's file, and those with a rule before it for some sizes of bcast."""
    tuner = tuner_for(library_of(vendor))
    own = own_file(vendor, folder)
    path = folder / "with" / tuner.file_name
    path.parent.mkdir()
    rule = Rule("bcast", RANKS, RANKS, 512, 4095, ADDED[vendor])
    variables = {**own, **tuner.extend(path, [rule], own)}
    assert str(path) in variables.values()
    return own, variables


@pytest.mark.parametrize("vendor", ["mpich", pytest.param("openmpi", marks=pytest.mark.full)])
def test_a_library_takes_the_rule_and_keeps_to_the_user_s_file(vendor: str, tmp_path: Path) -> None:
    own, variables = own_and_extended(vendor, tmp_path)
    everywhere = tuner_for(library_of(vendor)).force({"bcast": ADDED[vendor]})
    kept, forced, ruled = (
        times_us(vendor, "bcast", tmp_path, environment)
        for environment in (own, everywhere, variables)
    )
    assert forced[1] != pytest.approx(kept[1], rel=SAME)
    assert ruled == pytest.approx([kept[0], forced[1], kept[2]], rel=SAME)


@pytest.mark.full
@pytest.mark.parametrize("vendor", ["mpich", "openmpi"])
def test_operations_without_a_rule_keep_what_the_user_chose(vendor: str, tmp_path: Path) -> None:
    own, variables = own_and_extended(vendor, tmp_path)
    kept, plain, ruled = (
        times_us(vendor, "alltoall", tmp_path, environment) for environment in (own, {}, variables)
    )
    assert kept != pytest.approx(plain, rel=SAME)
    assert ruled == pytest.approx(kept, rel=SAME)
    assert len(ruled) == len(SIZES)


def test_a_file_of_the_user_s_is_one_that_is_switched_on(tmp_path: Path) -> None:
    tuner = tuner_for(library_of("openmpi"))
    named = {"OMPI_MCA_coll_tuned_dynamic_rules_filename": str(tmp_path / "own.rules")}
    on = {**named, "OMPI_MCA_coll_tuned_use_dynamic_rules": "true"}
    assert tuner.own_files(named) == []
    [absent] = tuner.own_files(on)
    assert absent.problem.startswith("cannot read")
    (tmp_path / "own.rules").write_text(FOREIGN)
    assert [file.problem for file in tuner.own_files(on)] == [""]
    (tmp_path / "own.rules").write_text("1 7 1 64 1 8 6 0 0")
    assert "first message size is 8" in tuner.own_files(on)[0].problem


def test_rules_for_coll_han_are_put_into_the_user_s_file(tmp_path: Path) -> None:
    tuner = tuner_for(library_of("openmpi")).placed(lambda ranks: 4, shares_memory=False)
    own_path = tmp_path / "own.rules"
    tuner.write(own_path, [Rule("bcast", 2, math.inf, 0, math.inf, "han-simple/inter_node=basic")])
    own = tuner.activate(own_path)
    path = tmp_path / "with.rules"
    variables = tuner.extend(path, [Rule("bcast", 8, 8, 512, 4095, "pipeline")], own)
    assert str(beside(path)) in variables.values()
    rules = tuner.read(path)
    assert choice(rules, "bcast", 8, 512) == "pipeline"
    for ranks, size_bytes in ((8, 511), (8, 4096), (7, 512), (9, 512)):
        assert choice(rules, "bcast", ranks, size_bytes).startswith("han-simple")


def test_what_cannot_be_extended_is_named() -> None:
    intel = tuner_for(library_of("intel"))
    assert intel.own_files({}) == []
    [file] = intel.own_files({"I_MPI_TUNING_BIN": "/opt/tuned.dat"})
    assert (file.path, file.problem) == (Path("/opt/tuned.dat"), "it is binary")
    mpich = tuner_for(library_of("mpich"))
    [file] = mpich.own_files({"MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE": "ch4.json"})
    assert "device" in file.problem


def test_a_variable_of_intel_keeps_its_other_sizes() -> None:
    tuner = tuner_for(library_of("intel"))
    rule = Rule("bcast", 0, math.inf, 512, 4095, "3")
    own = {"I_MPI_ADJUST_BCAST": "4:0-1023;5"}
    rules = tuner.beside_own([rule], own)
    assert [choice(rules, "bcast", 8, size) for size in (8, 512, 4095, 4096)] == [
        *["4", "3", "3", "5"]
    ]
    assert tuner.beside_own([rule], {"I_MPI_ADJUST_BCAST": "4:5-1"}) == [rule]
    assert tuner.beside_own([rule], {"I_MPI_ADJUST_REDUCE": "4"}) == [rule]
