"""coll/han of Open MPI: its choices as ompi_info lists them, their variables and their rules."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.mpi.components import parse_parameters
from nhalf.mpi.decision_table import NATIVE, Rule, choice
from nhalf.mpi.han import TUNED, Han, is_choice, parse_han, settings_of
from nhalf.mpi.tuning_files.openmpi_han import HanFile

MODULES = "0 = self; 1 = basic; 2 = libnbc; 3 = tuned; 4 = sm; 5 = adapt; "
NODES = 4


def info(extra: str = "") -> str:
    """What Open MPI 5.0.11 prints of han's broadcast and barrier."""
    of_han = "mca:coll:han:param:coll_han"
    lines = [
        f"{of_han}_priority:value:35",
        "mca:coll:sm:param:coll_sm_priority:value:0",
        "mca:coll:adapt:param:coll_adapt_priority:value:0",
        f"{of_han}_dynamic_rules_filename:value:",
        f"{of_han}_bcast_segsize:value:65536",
        f"{of_han}_use_simple_bcast:value:false",
        f"{of_han}_bcast_up_module:help:up level module for bcast, 0 libnbc, 1 adapt",
        f"{of_han}_bcast_low_module:help:low level module for bcast, 0 tuned, 1 sm",
    ]
    for call, names in (
        ("bcast", ("default", "intra", "simple")),
        ("barrier", ("default", "simple")),
    ):
        lines += [
            f"{of_han}_use_{call}_algorithm:enumerator:value:{number}:{name}"
            for number, name in enumerate(names)
        ]
        for level in ("intra_node", "inter_node", "global_communicator"):
            own = "6 = han; " if level.startswith("global") else ""
            help_text = f"Collective module to use on {level} level: {MODULES}{extra}{own}"
            lines.append(f"{of_han}_{call}_dynamic_{level}_module:help:{help_text}")
    return "\n".join(lines) + "\n"


def listed(text: str) -> Han:
    han = parse_han(text, parse_parameters(text)[0])
    assert han is not None
    return han


HAN = listed(info())


def nodes_of(ranks: int) -> int:
    return min(NODES, ranks)


def test_choices_are_what_the_library_lists() -> None:
    assert HAN.choices("bcast", shares_memory=False) == [
        "tuned",
        "han-simple",
        "han-simple/intra_node=basic",
        "han-simple/intra_node=adapt",
        "han-simple/inter_node=basic",
        "han-simple/inter_node=adapt",
        "han-intra/up=adapt",
        "han-intra/segsize=16384",
        "han-intra/segsize=262144",
    ]
    memory = set(HAN.choices("bcast", shares_memory=True))
    assert memory - set(HAN.choices("bcast", shares_memory=False)) == {
        "han-simple/intra_node=sm", "han-intra/low=sm",
    }  # fmt: skip
    # The barrier has one algorithm, which is what it takes anyway.
    assert HAN.choices("barrier", shares_memory=False) == [
        "tuned", "han-simple/intra_node=basic", "han-simple/intra_node=adapt",
        "han-simple/inter_node=basic", "han-simple/inter_node=adapt",
    ]  # fmt: skip
    assert HAN.choices("alltoall", shares_memory=True) == []


def test_a_component_of_a_later_version_is_raced_within_nodes() -> None:
    later = listed(info("7 = xhc; ") + "mca:coll:xhc:param:coll_xhc_priority:value:0\n")
    names = set(later.choices("bcast", shares_memory=True)) - set(
        HAN.choices("bcast", shares_memory=True)
    )
    assert names == {"han-simple/intra_node=xhc"}
    assert later.force("bcast", "han-simple/intra_node=xhc") == {
        "OMPI_MCA_coll_han_use_bcast_algorithm": "2",
        "OMPI_MCA_coll_han_bcast_dynamic_intra_node_module": "7",
        "OMPI_MCA_coll_xhc_priority": "20",
    }


def test_a_version_whose_file_names_no_algorithm_has_no_choices() -> None:
    text = "\n".join(line for line in info().splitlines() if "enumerator" not in line)
    assert parse_han(text, parse_parameters(text)[0]) is None
    assert parse_han("", {}) is None


def test_forcing() -> None:
    assert HAN.force("bcast", "binomial") == HAN.force("bcast", TUNED)
    assert HAN.force("bcast", TUNED) == {
        "OMPI_MCA_coll_han_bcast_dynamic_global_communicator_module": "3"
    }
    assert HAN.force("alltoall", "pairwise") == {}
    # adapt is off, and has to be there for the level.
    assert HAN.needed("bcast", "han-simple/inter_node=adapt") == {
        "OMPI_MCA_coll_adapt_priority": "20"
    }
    assert HAN.force("bcast", "han-intra/up=adapt") == {
        "OMPI_MCA_coll_han_use_bcast_algorithm": "1",
        "OMPI_MCA_coll_han_bcast_up_module": "1",
    }


@pytest.mark.parametrize(
    ("name", "size_bytes", "differs"),
    [
        ("han-intra/segsize=16384", 16384, False),
        ("han-intra/segsize=16384", 16385, True),
        ("han-intra/segsize=262144", 65536, False),
        ("han-intra/segsize=262144", 65537, True),
        ("han-intra/up=adapt", 0, True),
        ("binomial", 0, True),
    ],
)
def test_segments_differ_from_the_usual_ones_for_longer_messages(
    name: str, size_bytes: int, differs: bool
) -> None:
    assert HAN.differs("bcast", name, size_bytes) is differs


def test_the_set_of_variables_that_gains_most_stays() -> None:
    adapt, short = "han-intra/up=adapt", "han-intra/segsize=16384"
    options = {
        (8, 1024): {"binomial": 0.2, short: 0.2},
        (8, 65536): {adapt: 0.1},
        (8, 1048576): {short: 0.7, "han-simple": 0.49},
        (16, 8): {},
    }
    assert HAN.together("bcast", options) == {
        (8, 1024): {"binomial": 0.2, short: 0.2},
        (8, 65536): {},
        (8, 1048576): {short: 0.7, "han-simple": 0.49},
        (16, 8): {},
    }
    assert HAN.together("bcast", {(8, 8): {adapt: -0.01}}) == {(8, 8): {}}
    assert HAN.together("bcast", {}) == {}


def test_variables_change_what_has_no_rule() -> None:
    assert HAN.keeps_own("bcast", ["binomial", "han-simple/inter_node=basic", TUNED])
    assert not HAN.keeps_own("bcast", ["binomial", "han-intra/up=adapt"])
    # What han does without a rule is simple then, which has no such variables.
    simple = replace(HAN, values={**HAN.values, "coll_han_use_simple_bcast": "true"})
    assert simple.keeps_own("bcast", ["han-intra/up=adapt"])


def test_two_components_for_one_size_of_a_level_are_not_expressible() -> None:
    basic = Rule("bcast", 8, 8, 0, math.inf, "han-simple/inter_node=basic")
    plain = Rule("bcast", 16, 16, 0, math.inf, "han-simple")
    other = Rule("bcast", 16, 16, 0, math.inf, "han-simple/intra_node=basic")
    # Both numbers of ranks are on 4 nodes, or both have two ranks on each.
    assert HAN.expressible([basic, other], nodes_of) == [basic]
    assert HAN.expressible([basic, plain], nodes_of) == [basic]
    assert HAN.expressible([basic, other], lambda ranks: ranks // 2) == [basic]
    assert HAN.expressible([basic, other], {8: 4, 16: 2}.__getitem__) == [basic, other]
    adapt = Rule("bcast", 8, 8, 0, 1023, "han-intra/up=adapt")
    segments = Rule("bcast", 8, 8, 1024, math.inf, "han-intra/segsize=16384")
    assert HAN.expressible([adapt, segments], nodes_of) == [adapt]


def test_the_file_of_rules() -> None:
    rules = [
        Rule("bcast", 8, 8, 0, 1023, "han-simple/inter_node=basic"),
        Rule("bcast", 8, 8, 1024, 4095, "binomial"),
        Rule("bcast", 8, 8, 4096, 8191, "pipeline:8192"),
        Rule("bcast", 8, 8, 65536, math.inf, "han-intra/up=adapt"),
        Rule("alltoall", 8, 8, 0, math.inf, "pairwise"),
    ]
    file = HAN.file(rules, nodes_of)
    steps = [(0, "han @simple"), (1024, "tuned"), (8192, "han"), (65536, "han @intra")]
    assert file == HanFile(
        {
            "bcast": {
                "global_communicator": [(0, [(0, "han")]), (8, steps), (9, [(0, "han")])],
                "inter_node": [(1, [(0, "tuned")]), (4, [(0, "basic"), (1024, "tuned")])],
            }
        },
        {"OMPI_MCA_coll_han_bcast_up_module": "1"},
    )
    of_tuned = [rule for rule in rules if not is_choice(rule.algorithm)]
    again = HAN.rules(file, of_tuned, nodes_of)
    assert sorted(again, key=repr) == sorted(rules, key=repr)
    assert HAN.file([], nodes_of) == HanFile({})


NAMES = st.sampled_from(
    ["binomial", "pipeline:8192", TUNED, "han-simple", "han-simple/inter_node=basic", NATIVE]
)


@st.composite
def rule(draw: st.DrawFn) -> Rule:
    first, last = sorted(draw(st.tuples(st.integers(8, 11), st.integers(8, 11))))
    begin, end = sorted(draw(st.tuples(st.integers(0, 99), st.integers(0, 99))))
    ends = draw(st.sampled_from([last, math.inf])), draw(st.sampled_from([end, math.inf]))
    return Rule("bcast", first, ends[0], begin, ends[1], draw(NAMES))


@given(st.lists(rule(), max_size=5), st.integers(8, 12), st.integers(0, 120))
def test_both_files_together_say_what_the_rules_say(
    rules: list[Rule], ranks: int, size_bytes: int
) -> None:
    def nodes(ranks: int) -> int:
        return ranks - 4

    wanted = choice(rules, "bcast", ranks, size_bytes)
    of_tuned = [replace(r, algorithm=NATIVE) if is_choice(r.algorithm) else r for r in rules]
    again = HAN.rules(HAN.file(rules, nodes), of_tuned, nodes)
    assert choice(again, "bcast", ranks, size_bytes) == wanted


def test_names() -> None:
    assert settings_of("binomial") == settings_of("han-simple") == {}
    assert settings_of("han-intra/up=adapt,segsize=8") == {"up": "adapt", "segsize": "8"}
