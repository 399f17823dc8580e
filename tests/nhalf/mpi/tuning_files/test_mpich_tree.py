"""MPICH's tree of tests: rules go before what is there, and no call may find nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.mpi.decision_table import Rule
from nhalf.mpi.tuner import read_variables, variables_text
from nhalf.mpi.tuning_files.mpich_tree import check_tree, decided, own_tree, tree_text
from nhalf.mpi.vendors.mpich import parse_choices

SMALL: dict[str, Any] = {
    "avg_msg_size<=12288": {"algorithm=MPIR_Bcast_intra_binomial": {}},
    "avg_msg_size=any": {"algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}},
}
ALLREDUCE: dict[str, Any] = {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}}
ALLTOALL: dict[str, Any] = {
    "is_sendbuf_inplace=yes": {"algorithm=MPIR_Alltoall_intra_pairwise_sendrecv_replace": {}},
    "is_sendbuf_inplace=no": {"algorithm=MPIR_Alltoall_intra_scattered": {}},
}
BASE: dict[str, Any] = {
    "collective=bcast": {
        "comm_type=intra": SMALL,
        "comm_type=inter": {"algorithm=MPIR_Bcast_inter_remote_send_local_bcast": {}},
    },
    "collective=allreduce": {"comm_type=intra": ALLREDUCE, "comm_type=inter": ALLREDUCE},
    "collective=alltoall": {"comm_type=intra": ALLTOALL, "comm_type=inter": ALLTOALL},
    "collective=allgather": {
        "comm_type=intra": {"algorithm=MPIR_Allgather_intra_ring": {}},
        "comm_type=inter": {"algorithm=MPIR_Allgather_inter_local_gather_remote_bcast": {}},
    },
}
HERE = Path("tree.json")


def with_rules(*rules: Rule) -> dict[str, Any]:
    text = tree_text(BASE, rules)
    tree: dict[str, Any] = check_tree(HERE, text, BASE)
    return tree


def test_a_rule_holds_for_its_ranks_and_sizes_and_the_rest_is_as_before() -> None:
    tree = with_rules(Rule("bcast", 4, 7, 1024, 2047, "scatter_ring_allgather"))
    assert tree["collective=bcast"]["comm_type=intra"] == {
        "comm_size<=3": SMALL,
        "comm_size<=7": {
            "avg_msg_size<1024": SMALL,
            "avg_msg_size<2048": {"algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {}},
            "avg_msg_size=any": SMALL,
        },
        "comm_size=any": SMALL,
    }
    assert tree["collective=allreduce"] == BASE["collective=allreduce"]
    assert decided(tree, BASE, ["bcast", "allreduce"]) == ["bcast"]


def test_what_needs_a_count_or_an_operation_is_used_where_it_may_be() -> None:
    tree = with_rules(Rule("allreduce", 2, math.inf, 0, math.inf, "reduce_scatter_allgather"))
    inner = tree["collective=allreduce"]["comm_type=intra"]["comm_size=any"]
    assert inner["is_commutative=no"] == ALLREDUCE
    assert inner["is_commutative=yes"]["is_op_built_in=no"] == ALLREDUCE
    assert inner["is_commutative=yes"]["is_op_built_in=yes"] == {
        "count<pow2": ALLREDUCE,
        "count=any": {"algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather": {}},
    }


def test_calls_in_place_stay_as_they_are() -> None:
    tree = with_rules(Rule("alltoall", 2, math.inf, 0, math.inf, "pairwise"))
    intra = tree["collective=alltoall"]["comm_type=intra"]
    assert intra["is_sendbuf_inplace=yes"] == ALLTOALL["is_sendbuf_inplace=yes"]
    assert intra["is_sendbuf_inplace=no"]["comm_size=any"] == {
        "algorithm=MPIR_Alltoall_intra_pairwise": {}
    }


def test_all_blocks_together_are_counted_where_the_library_does() -> None:
    tree = with_rules(Rule("allgather", 4, 4, 100, math.inf, "brucks"))
    intra = tree["collective=allgather"]["comm_type=intra"]
    assert list(intra["comm_size<=4"]) == ["total_msg_size<400", "total_msg_size=any"]


def test_what_was_before_means_the_same_behind_a_test_of_sizes() -> None:
    """There `comm_size<8` would also hold for 8 ranks; where it did so before it stays so."""
    size: dict[str, Any] = {"comm_size<3": SMALL, "comm_size=any": SMALL}
    old = {
        "comm_size<8": {"comm_hierarchy=parent": size, "comm_hierarchy=any": SMALL},
        "comm_size=pow2": {"avg_msg_size<=9": size, "avg_msg_size=any": size},
        "comm_size=any": SMALL,
    }
    intra = {"comm_type=intra": old, "comm_type=inter": SMALL}
    base = {**BASE, "collective=bcast": intra}
    tree = json.loads(tree_text(base, [Rule("bcast", 4, 8, 64, math.inf, "binomial")]))
    tests = tree["collective=bcast"]["comm_type=intra"]
    assert tests["comm_size<=3"] == tests["comm_size=any"] == old
    behind = tests["comm_size<=8"]["avg_msg_size<64"]
    assert behind == {
        "comm_size<=7": {
            "comm_hierarchy=parent": {"comm_size<=2": SMALL, "comm_size=any": SMALL},
            "comm_hierarchy=any": SMALL,
        },
        "comm_size=pow2": old["comm_size=pow2"],
        "comm_size=any": SMALL,
    }
    assert list(behind) == list(behind)[:1] + list(old)[1:]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"avg_msg_size=any"', '"avg_msg_size<99"', "no test holds for all other calls"),
        ('"avg_msg_size=any"', '"avg_size=any"', "there is no such test"),
        ('"collective=allgather"', '"collective=gather"', "it is missing"),
        ("MPIR_Bcast_intra_binomial", "MPIR_Gather_intra_binomial", "no algorithm of bcast"),
        ('{"algorithm=MPIR_Allgather_intra_ring": {}}', "{}", "leads to no algorithm"),
        ("{", "", "not JSON"),
        ("is_sendbuf_inplace=yes", "is_sendbuf_inplace=no2", "no such test"),
    ],
)
def test_what_would_end_the_program_is_rejected(old: str, new: str, said: str) -> None:
    text = json.dumps(BASE)
    assert old in text
    with pytest.raises(FailedError, match=said):
        check_tree(HERE, text.replace(old, new, 1), BASE)


@pytest.mark.parametrize(
    ("leaf", "variable"),
    [
        ("composition=MPIDI_Bcast_intra_composition_alpha", "CH4_COLL_SELECTION"),
        ("algorithm=MPIDI_POSIX_mpi_bcast_release_gather", "CH4_POSIX_COLL_SELECTION"),
    ],
)
def test_a_file_of_another_variable_is_named(leaf: str, variable: str) -> None:
    branch: dict[str, Any] = {"comm_hierarchy=parent": {"avg_msg_size=any": {leaf: {}}}}
    tree = {"collective=bcast": {"comm_type=intra": branch}}
    with pytest.raises(InputError, match=f"a file of MPIR_CVAR_{variable}_TUNING_JSON_FILE"):
        check_tree(HERE, json.dumps(tree), BASE)
    with pytest.raises(FailedError, match="no such test"):
        check_tree(HERE, json.dumps(tree).replace("avg_msg_size=any", "size=any"), BASE)


def test_a_cut_file_is_rejected() -> None:
    text = json.dumps(BASE)
    for end in range(0, len(text) - 1, 7):
        with pytest.raises(FailedError):
            check_tree(HERE, text[:end], BASE)


def test_the_tree_is_found_in_the_library(tmp_path: Path) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    device = json.dumps({"collective=bcast": {"composition=X": {}}}, separators=(",", ":"))
    own = json.dumps(BASE, separators=(",", ":"))
    held = b"\x7fELF\0" + device.encode() + b"\0junk\0" + own.encode() + b"\0more"
    (folder / "libmpi.so.12").write_bytes(held)
    assert own_tree(tmp_path) == BASE
    (folder / "libmpi.so.12").write_bytes(b"\x7fELF\0nothing")


def test_without_a_tree_there_is_another_way(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmpi.so").write_bytes(b"\x7fELF nothing here")
    with pytest.raises(MissingError, match="--to variables"):
        own_tree(tmp_path)


def test_the_form_that_is_to_come_is_refused_with_the_version(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    coming = b'{"collective=bcast-intra": {"comm_size(8)": {"algorithm=MPIR_Bcast_intra_x":{}}}}'
    (tmp_path / "lib" / "libmpi.so").write_bytes(b"\x7fELF" + coming + b"\0")
    with pytest.raises(MissingError, match=r"mpich-5\.1\.0 has a tree .* form") as caught:
        own_tree(tmp_path, "mpich-5.1.0")
    assert caught.value.remedy.endswith("--to variables")


def test_what_mpivars_prints() -> None:
    text = """\
3 MPI Control Variables
	MPIR_CVAR_BCAST_INTRA_ALGORITHM =0	SCOPE_ALL_EQ	Variable to select
auto - Internal algorithm selection
binomial                                - Force Binomial Tree
nb - Force nonblocking algorithm
	MPIR_CVAR_BCAST_TREE_KVAL       =2	k value - for tree
	MPIR_CVAR_BCAST_INTER_ALGORITHM =0	Variable
flat - Force flat
	MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM:	Variable
auto - Internal
ccl  - Force CCL
ring - Force ring
"""
    assert parse_choices(text) == {"BCAST": ["binomial", "nb"], "ALLREDUCE": ["ring"]}
    assert parse_choices("") == {}


class TestVariables:
    """Files of variables."""

    def test_come_back(self, tmp_path: Path) -> None:
        path = tmp_path / "x.env"
        path.write_text(variables_text({"A_B": "1:0-7@2-2;2", "C": "x y"}, "source it"))
        assert read_variables(path, lambda *_: "") == {"A_B": "1:0-7@2-2;2", "C": "x y"}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "line 1: it sets no variable"),
            ("# only\n", "sets no variable"),
            ("A=1\nB", "line 2: 'B' is not NAME=value"),
            ("A=1\nA=2", "line 2: A stands twice"),
            ("A='1", "quot"),
            ("BAD=1", "line 1: not this one"),
        ],
    )
    def test_mistakes_are_said_with_their_line(self, tmp_path: Path, text: str, said: str) -> None:
        path = tmp_path / "x.env"
        path.write_text(text)
        with pytest.raises(FailedError, match=said):
            read_variables(path, lambda name, _: "not this one" if name == "BAD" else "")

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot read"):
            read_variables(tmp_path / "none.env", lambda *_: "")


def test_a_tuner_of_a_library_with_a_tree(tmp_path: Path) -> None:
    from nhalf.mpi import Library
    from nhalf.mpi.vendors.mpich import Ch4

    (tmp_path / "lib").mkdir()
    held = json.dumps(BASE, separators=(",", ":")).encode()
    (tmp_path / "lib" / "libmpi.so.12").write_bytes(b"\x7fELF\0" + held + b"\0")
    library = Library(
        "mpich-5", "mpich", "5", tmp_path, tmp_path / "bin/mpiexec", "hydra", True, None, "prefix"
    )
    tuner = Ch4(library)
    path = tmp_path / tuner.file_name
    path.write_text(tuner.text([Rule("bcast", 4, 7, 0, math.inf, "binomial")]))
    assert tuner.operations_in(path) == ["bcast"]
    assert tuner.activate(path) == {
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(path),
        "MPIR_CVAR_COLLECTIVE_FALLBACK": "error",
        "MPIR_CVAR_DEVICE_COLLECTIVES": "percoll",
        "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0",
    }
    more = tuner.text_with(path, Rule("allreduce", 2, 2, 0, 7, "ring"))
    assert "MPIR_Allreduce_intra_ring" in more
    assert "comm_size<=7" in more
    path.write_text(json.dumps(BASE))
    assert tuner.operations_in(path) == []
    forced = tuner.force({"allreduce": "reduce_scatter_allgather"})
    assert forced["MPIR_CVAR_COLLECTIVE_FALLBACK"] == "silent"
