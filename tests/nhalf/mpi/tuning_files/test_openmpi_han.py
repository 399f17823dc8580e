"""The file of rules for coll/han: what is written, and everything that must not be taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import FailedError
from nhalf.mpi.tuning_files.openmpi_han import GLOBAL, INTER_NODE, HanFile, han_text, read_han

HERE = Path("han-my.rules")
COMPONENTS = ("basic", "han", "tuned")
FILE = HanFile(
    {
        "bcast": {
            GLOBAL: [(1, [(0, "han")]), (8, [(0, "han @simple"), (4096, "tuned")])],
            INTER_NODE: [(1, [(0, "basic")])],
        },
        "barrier": {GLOBAL: [(1, [(0, "tuned")])]},
    },
    {"OMPI_MCA_coll_han_bcast_segsize": "16384"},
)
TEXT = """\
# needs OMPI_MCA_coll_han_bcast_segsize=16384
2 # collectives
bcast
2 # levels
2 2 # global_communicator, number of sizes
1 1 # from this many ranks on
0 han
8 2 # from this many ranks on
0 han @simple
4096 tuned
1 1 # inter_node, number of sizes
1 1 # from this many ranks on
0 basic
barrier
1 # levels
2 1 # global_communicator, number of sizes
1 1 # from this many ranks on
0 tuned
"""


def test_the_whole_text_comes_back() -> None:
    assert han_text(FILE) == TEXT
    assert read_han(HERE, TEXT, COMPONENTS) == FILE


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2 # collectives", "0 # collectives", "'0' cannot be the number of collectives"),
        ("2 # collectives", "3 # collectives", "ends where the name of a collective"),
        ("2 # collectives", "1 # collectives", "line 14: more follows"),
        ("barrier", "bcast", "'bcast' comes twice"),
        ("barrier", "6", "'6' is not the name"),
        ("1 1 # inter_node", "2 1 #", "level 2 comes twice"),
        ("1 1 # inter_node", "3 1 #", "level 3 comes twice, or is not 0 to 2"),
        ("1 1 # from this many ranks on\n0 han\n", "2 1\n0 han\n", "the first size is 2, not 1"),
        ("1 1 # from this many ranks on\n0 han\n", "0 1\n0 han\n", "'0' cannot be a size"),
        ("8 2 #", "1 2 #", "sizes do not ascend"),
        ("0 han\n", "8 han\n", "line 7: the first message size is 8, not 0"),
        ("4096 tuned", "0 tuned", "message sizes do not ascend"),
        ("4096 tuned", "-4096 tuned", "'-4096' cannot be a message size"),
        ("4096 tuned", "4096 3", "no component '3'"),
        ("4096 tuned", "4096 tuned @ring", "only han has algorithms"),
        ("0 basic", "0 han", "for the whole communicator alone"),
        ("0 basic", "0 adapt", "no component 'adapt'"),
    ],
)
def test_what_the_library_would_drop_is_said_with_its_line(old: str, new: str, said: str) -> None:
    assert old in TEXT
    with pytest.raises(FailedError, match=said) as caught:
        read_han(HERE, TEXT.replace(old, new, 1), COMPONENTS)
    assert "han-my.rules, line" in str(caught.value)


def test_a_file_that_was_cut_anywhere_is_rejected() -> None:
    lines = TEXT.splitlines()
    for end in range(1, len(lines)):
        with pytest.raises(FailedError):
            read_han(HERE, "\n".join(lines[:end]), COMPONENTS)
    with pytest.raises(FailedError):
        read_han(HERE, "", COMPONENTS)
