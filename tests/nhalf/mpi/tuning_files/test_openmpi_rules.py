"""Open MPI's file of rules: what is written, and everything that must not be taken."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.base.errors import FailedError
from nhalf.mpi.components import parse_parameters
from nhalf.mpi.decision_table import NATIVE, Rule, choice
from nhalf.mpi.tuning_files.openmpi_json import distribution, json_text, read_json
from nhalf.mpi.tuning_files.openmpi_rules import first_block_note, read_file, read_rules, rules_text

NAMES = {
    "bcast": {0: "ignore", 1: "basic_linear", 2: "chain", 3: "pipeline", 6: "binomial"},
    "allgather": {0: "ignore", 1: "linear", 2: "bruck", 4: "ring"},
    "barrier": {0: "ignore", 1: "linear", 6: "tree"},
}
HERE = Path("my.rules")
RULES = [
    Rule("bcast", 2, 3, 0, 2047, "binomial"),
    Rule("bcast", 4, 4, 1024, math.inf, "pipeline:8192"),
    Rule("allgather", 2, 3, 512, 1023, "ring"),
    Rule("barrier", 2, math.inf, 0, math.inf, "tree"),
]
TEXT = """\
3 # collectives
0 # allgather
4 # communicator sizes
0 1 # from this many ranks on, number of message sizes
0 0 0 0 # native
2 3 # from this many ranks on, number of message sizes
0 0 0 0 # native
1024 4 0 0 # ring
2048 0 0 0 # native
3 3 # from this many ranks on, number of message sizes
0 0 0 0 # native
1536 4 0 0 # ring
3072 0 0 0 # native
4 1 # from this many ranks on, number of message sizes
0 0 0 0 # native
6 # barrier
2 # communicator sizes
0 1 # from this many ranks on, number of message sizes
0 0 0 0 # native
2 1 # from this many ranks on, number of message sizes
0 6 0 0 # tree
7 # bcast
4 # communicator sizes
0 1 # from this many ranks on, number of message sizes
0 0 0 0 # native
2 2 # from this many ranks on, number of message sizes
0 6 0 0 # binomial
2048 0 0 0 # native
4 2 # from this many ranks on, number of message sizes
0 0 0 0 # native
1024 3 0 8192 # pipeline:8192
5 1 # from this many ranks on, number of message sizes
0 0 0 0 # native
"""


def names_of(operation: str) -> Mapping[int, str]:
    return NAMES.get(operation, {})


def number_of(operation: str, name: str) -> int:
    return {text: number for number, text in NAMES[operation].items()}.get(name, 0)


def fan_of(operation: str, name: str) -> int:
    return 4 if name == "chain" else 0


def numbers(text: str) -> str:
    """Without comments."""
    return "\n".join(line.partition("#")[0].strip() for line in text.splitlines())


def test_the_whole_text() -> None:
    assert rules_text(RULES, number_of, fan_of, version=1) == TEXT
    second = rules_text(RULES, number_of, fan_of, version=2)
    assert second == f"rule-file-version-2\n{TEXT}"
    chain = rules_text([Rule("bcast", 2, 2, 0, 7, "chain")], number_of, fan_of, version=1)
    assert "\n0 2 4 0 # chain\n" in chain


def test_all_blocks_together_are_counted_where_the_library_does() -> None:
    found = read_rules(HERE, TEXT, names_of)
    assert [r for r in found if r.operation == "allgather"] == [
        Rule("allgather", 2, 2, 512, 1023, "ring"), Rule("allgather", 3, 3, 512, 1023, "ring"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0 6 0 0 # binomial", "8 6 0 0", "first message size is 8, not 0"),
        ("1024 3 0 8192", "1024 9 0 8192", "bcast has no algorithm 9"),
        ("1024 3 0 8192", "1024 -3 0 8192", "'-3' is no decimal number"),
        ("1024 3 0 8192", "01024 3 0 8192", "'01024' is no decimal number"),
        ("1024 3 0 8192", "1024 3 0", "fewer than 4 numbers"),
        ("1024 3 0 8192", "1024 3 0 8192 7", "more than 4 numbers"),
        ("2048 0 0 0", "1000 0 0 0", "message sizes do not ascend"),
        ("2 2 # from", "2 3 # from", "ascend|numbers"),
        ("4 # communicator sizes", "3 # communicator sizes", "number of message sizes is 0"),
        ("7 # bcast", "77 # bcast", "no collective of id 77"),
        ("7 # bcast", "6 # bcast", "id 6 comes twice"),
        ("3 # collectives", "2 # collectives", "more numbers follow"),
        ("3 # collectives", "4 # collectives", "file ends where"),
        ("3 # collectives", "0 # collectives", "number of collectives is 0"),
        ("3 # collectives", "rule-file-version-9\n3", "version '9'"),
        ("3 # collectives", "rules\n3", "'rules' is no decimal number"),
    ],
)  # fmt: skip
def test_what_the_library_would_drop_is_said_with_its_line(old: str, new: str, said: str) -> None:
    assert old in TEXT
    with pytest.raises(FailedError, match=said) as caught:
        read_rules(HERE, TEXT.replace(old, new), names_of)
    assert "my.rules, line" in str(caught.value)


@pytest.mark.parametrize("ranks", [1, 2, 64])
def test_smaller_communicators_take_the_first_block(ranks: int) -> None:
    text = f"1 # one operation\n7\n1 # one block\n{ranks} 2 # from here\n0 6 0 0\n1024 3 0 0\n"
    read = read_rules(HERE, text, names_of)
    assert read == read_rules(HERE, text.replace(f"{ranks} 2 #", "0 2 #"), names_of)
    note = first_block_note(read_file(HERE, text))
    assert note == f"smaller communicators take the first block as well: bcast ({ranks} ranks)"
    assert first_block_note(read_file(HERE, text.replace(f"{ranks} 2 #", "0 2 #"))) == ""


def test_a_file_that_was_cut_anywhere_is_rejected() -> None:
    words = numbers(TEXT).split()
    lines = numbers(TEXT).splitlines()
    assert len(words) > 60
    for end in range(len(lines)):
        with pytest.raises(FailedError):
            read_rules(HERE, "\n".join(lines[:end]), names_of)


def test_requests_belong_to_version_2() -> None:
    text = f"rule-file-version-2\n{TEXT}".replace("1024 3 0 8192", "1024 3 0 8192 16")
    assert read_rules(HERE, text, names_of) == read_rules(HERE, TEXT, names_of)


class TestJson:
    """From version 6 on."""

    def test_comes_back(self) -> None:
        text = json_text(RULES, fan_of)
        assert read_json(HERE, text, numbers_of) == read_rules(HERE, TEXT, names_of)

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ('"binomial"', '"binomail"', "bcast has no algorithm 'binomail'"),
            ('"bcast"', '"bcats"', "no such collective"),
            ('"alg"', '"algorithm"', "'algorithm' means nothing"),
            ('"msg_size_max": 2047', '"msg_size_max": -1', "-1 is neither a number"),
            ('"msg_size_min": 1024', '"msg_size_min": 4096', "empty range"),
            ('"collectives"', '"collective"', "'collective' means nothing"),
            ("]", "", "not JSON"),
        ],
    )
    def test_mistakes_are_said_with_their_place(self, old: str, new: str, said: str) -> None:
        text = json_text(RULES, fan_of)
        assert old in text
        with pytest.raises(FailedError, match=said):
            read_json(HERE, text.replace(old, new), numbers_of)

    def test_it_conforms_to_the_published_schema(self) -> None:
        text = json_text(RULES, fan_of, lambda ranks: "one-per-node" if ranks == 2 else "any")
        file = json.loads(text)
        jsonschema.validate(file, SCHEMA)
        blocks = file["collectives"]["bcast"]
        assert [block.get("comm_rank_distribution") for block in blocks] == ["one-per-node", None]
        assert read_json(HERE, text, numbers_of) == read_rules(HERE, TEXT, names_of)
        for old, new in (('"one-per-node"', '"two-per-node"'), ('"comm_size_min"', '"ranks"')):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(json.loads(text.replace(old, new)), SCHEMA)
            with pytest.raises(FailedError):
                read_json(HERE, text.replace(old, new), numbers_of)

    @pytest.mark.parametrize(
        ("nodes", "ranks", "name"),
        [(1, 8, "single-node"), (1, 1, "single-node"), (8, 8, "one-per-node"), (4, 8, "any")],
    )
    def test_placements_have_names(self, nodes: int, ranks: int, name: str) -> None:
        assert distribution(nodes, ranks) == name


END = {"anyOf": [{"type": "integer"}, {"enum": ["inf", "INF", "Inf"]}]}
SCHEMA = {
    "type": "object",
    "required": ["rule_file_version", "module", "collectives"],
    "additionalProperties": False,
    "properties": {
        "rule_file_version": {"type": "number"},
        "module": {"type": "string"},
        "$schema": {"type": "string"},
        "collectives": {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["rules"],
                    "additionalProperties": False,
                    "properties": {
                        "comm_size_min": END,
                        "comm_size_max": END,
                        "comm_rank_distribution": {"enum": ["any", "one-per-node", "single-node"]},
                        "rules": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["alg"],
                                "additionalProperties": False,
                                "properties": {
                                    "msg_size_min": END,
                                    "msg_size_max": END,
                                    "alg": {"type": ["string", "integer"]},
                                    "reqs": {"type": "integer"},
                                    "faninout": {"type": "integer"},
                                    "seg_size": {"type": "integer"},
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
"""The keys of tuned_dynamic_file_schema.json in the documentation of Open MPI's main.

The file itself is no valid schema, since `anyOf` has to be a list. Its names of collectives are
left out: it has reducescatterblock, where the library takes reduce_scatter_block alone.
"""


def numbers_of(operation: str) -> Mapping[str, int]:
    return {name: number for number, name in names_of(operation).items()}


SIZES = st.integers(0, 5000)
ALGORITHMS = st.sampled_from(["basic_linear", "pipeline:8192", "binomial", NATIVE])


@st.composite
def rule(draw: st.DrawFn) -> Rule:
    ranks = sorted(draw(st.tuples(st.integers(1, 9), st.integers(1, 9))))
    size_bytes = sorted(draw(st.tuples(SIZES, SIZES)))
    ends = (
        draw(st.sampled_from([ranks[1], math.inf])),
        draw(st.sampled_from([size_bytes[1], math.inf])),
    )
    return Rule("bcast", ranks[0], ends[0], size_bytes[0], ends[1], draw(ALGORITHMS))


@given(st.lists(rule(), min_size=1, max_size=6), st.integers(0, 12), SIZES)
def test_a_file_says_what_its_rules_say(rules: list[Rule], ranks: int, size_bytes: int) -> None:
    wanted = choice(rules, "bcast", ranks, size_bytes)
    text = rules_text(rules, number_of, fan_of, version=1)
    assert choice(read_rules(HERE, text, names_of), "bcast", ranks, size_bytes) == wanted
    again = read_json(HERE, json_text(rules, fan_of), numbers_of)
    assert choice(again, "bcast", ranks, size_bytes) == wanted


def test_what_ompi_info_prints() -> None:
    text = """\
mca:coll:han:param:coll_han_priority:value:35
mca:coll:tuned:param:coll_tuned_priority:value:30
mca:coll:tuned:param:coll_tuned_bcast_algorithm:value:ignore
mca:coll:tuned:param:coll_tuned_bcast_algorithm:help:Which: 0 ignore, 1 basic linear
mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:0:ignore
mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:1:basic_linear
mca:coll:tuned:param:coll_tuned_use_dynamic_rules:enumerator:value:0:false
"""
    values, choices = parse_parameters(text)
    assert values["coll_han_priority"] == "35"
    assert choices == {"bcast": {"ignore": 0, "basic_linear": 1}}
    assert parse_parameters("") == ({}, {})
