"""MPICH's tree of tests (CSEL): found in the library, checked, and with rules put before it.

It consists of nested objects whose keys are tests, tried in their order; the first that holds is
entered and never left again, so that every object must end with a test that always holds. Leaves
are `algorithm=NAME`.

`comm_size<N` has two meanings (MPICH 4 and 5, csel.c): tests of the communicator at the head of a
branch are decided with the communicator, where it means what it says; behind the first test of a
call it also holds for N ranks. Written is `comm_size<=N`, which has one.
"""

import functools
import json
import mmap
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.operations import PER_RANK
from nhalf.mpi.decision_table import NATIVE, Rule, Steps, blocks_of, call_of
from nhalf.mpi.surroundings import library_path

Tree = dict[str, Any]

START = b'{"collective=bcast":'
COMING = b'"collective=bcast-intra"'
"""In a library whose tree is of the form of mpich#7547: branches for collectives and their kinds of
communicator, and tests such as `comm_size(8)`. No release has it yet, and no document says which
numbers such a test holds for, so that it is refused."""
VARIABLE = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
COMPOSITIONS_VARIABLE = "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE"
POSIX_VARIABLE = "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE"
PLAIN = (
    *("binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
    *("recursive_doubling", "reduce_scatter_allgather", "brucks", "ring", "pairwise", "scattered"),
    *("reduce_scatter_gather", "recursive_halving", "nb", "pairwise_sendrecv_replace"),
)
"""Algorithms without parameters, whose names in the tree are those of the variables."""
REDUCING = ("allreduce", "reduce", "reduce-scatter")
"""Operations whose algorithms may need a commutative reduction."""
NEEDS_COUNT = ("reduce_scatter_allgather", "reduce_scatter_gather")
"""Algorithms that need an element for every rank, even in calls of the library's own start-up, and
a built-in reduction."""
BY_MESSAGE = ("alltoall", "bcast", "reduce", "allreduce", "scan")
"""Operations whose tests are of one message, as in rules; others are of all blocks together."""

_TEST = re.compile(
    r"collective=\w+|comm_type=(intra|inter)|comm_size(<=|<)\d+|comm_size=(pow2|any|node_comm_size)"
    r"|(avg|total|per_proc)_msg_size(<=|<)\d+|(avg|total|per_proc)_msg_size=any"
    r"|count(<=\d+|<pow2|=any)|comm_hierarchy=(parent|node_roots|node|flat|any)"
    r"|is_\w+=(yes|no)|comm_avg_ppn(<=|<)\d+|comm_avg_ppn=any"
)
_BELOW = re.compile(r"comm_size<(\d+)")
_LEAF = re.compile(r"algorithm=\w+|composition=\w+")
_ENDS = re.compile(r"(\w+)=any|comm_type=inter")


def own_tree(prefix: Path, name: str = "the library") -> Tree:
    """The tree that is part of the library under a prefix; `name` is that of the library.

    Raises MissingError if it is not found, as in versions before 4, or of another form.
    """
    for folder in library_path(prefix):
        for path in sorted(folder.glob("libmpi*.so*")):
            if path.is_file() and (text := _tree_in(path)):
                return json.loads(text)  # type: ignore[no-any-return]
            if path.is_file() and _is_coming(path):
                raise MissingError(
                    f"{name} has a tree of algorithms of another form than MPICH 4 and 5.0 "
                    "(collective=bcast-intra), which nhalf does not write",
                    "write one algorithm for each operation instead: --to variables",
                )
    raise MissingError(
        f"the tree of algorithms of {name} is not found under {prefix}",
        "write one algorithm for each operation instead: --to variables",
    )


@functools.cache
def _tree_in(path: Path) -> str:
    """The text of the tree of MPICH's own layer in a shared object, '' if it has none."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place = data.find(START)
        while place >= 0:
            text = data[place : data.find(b"\0", place)].decode(errors="replace")
            if "algorithm=MPIR_" in text and "composition=" not in text:
                return text
            place = data.find(START, place + 1)
    return ""


@functools.cache
def _is_coming(path: Path) -> bool:
    """Whether a shared object has a tree of the form that is to come."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(COMING) >= 0


def tree_text(base: Tree, rules: Sequence[Rule], names: Iterable[str] = ()) -> str:
    """The tree with rules before its own tests; `names` are algorithms besides those in it."""
    tree: Tree = dict(base)
    known_names = names_in(base).union(names)
    for operation in dict.fromkeys(rule.operation for rule in rules):
        key = f"collective={call_of(operation)}"
        if "comm_type=intra" not in tree.get(key, {}):
            raise FailedError(f"MPICH's tree has nothing on {operation} to begin from")
        old = tree[key]["comm_type=intra"]
        tree[key] = {
            **tree[key],
            "comm_type=intra": _with_tests_first(old, rules, operation, known_names),
        }
    return json.dumps(tree, indent=1) + "\n"


def names_in(tree: Tree) -> set[str]:
    """The algorithms that a tree names."""
    names = set()
    for key, inner in tree.items():
        if key.startswith("algorithm="):
            names.add(key.partition("=")[2])
        names |= names_in(inner)
    return names


def _with_tests_first(
    old: Tree, rules: Sequence[Rule], operation: str, known_names: set[str]
) -> Tree:
    """A branch with tests for ranks and sizes before its own."""
    if "is_sendbuf_inplace=no" in old:
        behind = old["is_sendbuf_inplace=no"]
        inner = _tests(behind, behind, rules, operation, known_names)
        return {**old, "is_sendbuf_inplace=no": inner}
    return _tests(old, _behind_a_call(old), rules, operation, known_names)


def _tests(
    old: Tree, behind: Tree, rules: Sequence[Rule], operation: str, known_names: set[str]
) -> Tree:
    """Tests for ranks and sizes; `behind` is the previous branch for behind tests of the call."""
    blocks = blocks_of(rules, operation)
    tests: Tree = {}
    for number, (ranks, steps) in enumerate(blocks):
        last = number + 1 == len(blocks)
        test = "comm_size=any" if last else f"comm_size<={blocks[number + 1][0] - 1}"
        is_old = len(steps) == 1 and steps[0][1] == NATIVE
        tests[test] = old if is_old else _size_tests(behind, operation, (ranks, steps), known_names)
    return tests


def _behind_a_call(branch: Tree) -> Tree:
    """A branch so that it means behind a test of the call what it means at the head."""
    parts: Tree = {}
    is_decided = True
    for test, inner in branch.items():
        is_decided = is_decided and test.startswith(("comm_", "is_node_consecutive"))
        match = _BELOW.fullmatch(test) if is_decided else None
        name = f"comm_size<={int(match[1]) - 1}" if match else test
        parts[name] = _behind_a_call(inner) if is_decided else inner
    return parts


def _size_tests(old: Tree, operation: str, block: tuple[int, Steps], known_names: set[str]) -> Tree:
    """The tests of sizes for some numbers of ranks."""
    ranks, steps = block
    factor = ranks if operation in PER_RANK and operation not in BY_MESSAGE else 1
    kind = "avg_msg_size" if operation in BY_MESSAGE else "total_msg_size"
    if operation == "barrier":
        return _leaf(old, operation, steps[0][1], known_names)
    if len(steps) == 1:
        return _leaf(old, operation, steps[0][1], known_names)
    tests: Tree = {}
    for place, (_, algorithm) in enumerate(steps):
        last = place + 1 == len(steps)
        test = f"{kind}=any" if last else f"{kind}<{steps[place + 1][0] * factor}"
        tests[test] = _leaf(old, operation, algorithm, known_names)
    return tests


def _leaf(old: Tree, operation: str, algorithm: str, known_names: set[str]) -> Tree:
    """One algorithm if it may be used, and the previous branch otherwise."""
    if algorithm == NATIVE:
        return old
    leaf: Tree = {f"algorithm={_name(operation, algorithm, known_names)}": {}}
    if algorithm in NEEDS_COUNT:
        leaf = {"count<pow2": old, "count=any": leaf}
        leaf = {"is_op_built_in=yes": leaf, "is_op_built_in=no": old}
    if operation in REDUCING:
        leaf = {"is_commutative=yes": leaf, "is_commutative=no": old}
    return leaf


def _name(operation: str, algorithm: str, known_names: set[str]) -> str:
    """The name of an algorithm in the tree."""
    begin = f"MPIR_{call_of(operation).capitalize()}"
    names = [f"{begin}_{kind}_{algorithm}" for kind in ("intra", "allcomm")]
    match = next((name for name in names if name in known_names), "")
    return match or (names[1] if algorithm == "nb" else names[0])


def check_tree(path: Path, text: str, base: Tree) -> Tree:
    """Parse a tree; raises FailedError if MPICH would not accept it, or abort at a call."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(path, "", f"it is not JSON: {error}") from None
    if not isinstance(tree, dict):
        raise _wrong(path, "", "it is not an object")
    other_variable = _variable_of(tree)
    if other_variable:
        _check_tests(path, [], tree)
        raise InputError(
            f"{path} is a file of {other_variable}, with tests that exist; --check proves files "
            f"of {VARIABLE} only",
            f"start programs with {other_variable}={path}",
        )
    for key in base:
        if key not in tree:
            raise _wrong(path, key, "it is missing, and a call of it would end the program")
    _check(path, [], tree)
    return tree


def _variable_of(tree: Any) -> str:
    """The other variable of MPICH whose file has such algorithms; '' for the usual one."""
    names = set(_algorithms(tree))
    if any(name.startswith("composition=") for name in names):
        return COMPOSITIONS_VARIABLE
    is_posix = any(name.startswith("algorithm=MPIDI_POSIX_") for name in names)
    return POSIX_VARIABLE if is_posix else ""


def _check_tests(path: Path, where: list[str], tree: Any) -> None:
    """Check that every key is a test or an algorithm, and leads to one."""
    if not isinstance(tree, dict) or not tree:
        raise _wrong(path, " / ".join(where), "it leads to no algorithm")
    for key, branch in tree.items():
        if not _LEAF.fullmatch(key):
            if not _TEST.fullmatch(key):
                raise _wrong(path, " / ".join([*where, key]), "there is no such test")
            _check_tests(path, [*where, key], branch)


def _algorithms(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        for key, branch in tree.items():
            if _LEAF.fullmatch(key):
                yield key
            yield from _algorithms(branch)


def _check(path: Path, where: list[str], tree: Any) -> None:
    """Check that every object ends with a test that always holds, and branches with algorithms."""
    if not isinstance(tree, dict) or not tree:
        raise _wrong(path, " / ".join(where), "it leads to no algorithm")
    keys = list(tree)
    for key in keys:
        place = [*where, key]
        if _LEAF.fullmatch(key):
            name = place[-1].partition("=")[2]
            collective = place[0].partition("=")[2]
            if not name.startswith((f"MPIR_{collective.capitalize()}_", "MPIDI_")):
                raise _wrong(path, " / ".join(place), f"{name} is no algorithm of {collective}")
            continue
        if not _TEST.fullmatch(key):
            raise _wrong(path, " / ".join(place), "there is no such test")
        _check(path, place, tree[key])
    if where and not _complete(keys):
        raise _wrong(path, " / ".join(where), "no test holds for all other calls")


def _complete(keys: Iterable[str]) -> bool:
    """Whether one of some tests always holds."""
    distinct_keys = set(keys)
    if any(_LEAF.fullmatch(key) or _ENDS.fullmatch(key) for key in distinct_keys):
        return True
    return any(key.endswith("=yes") and key[:-3] + "no" in distinct_keys for key in distinct_keys)


def decided(tree: Tree, base: Tree, operations: Iterable[str]) -> list[str]:
    """The operations on which a tree differs from the library's own."""
    keys = {name: f"collective={call_of(name)}" for name in operations}
    return [name for name, key in keys.items() if _order(tree.get(key)) != _order(base.get(key))]


def _order(tree: Mapping[str, Any] | None) -> str:
    """A tree as text in its own order, which matters."""
    return json.dumps(tree)


def _wrong(path: Path, where: str, why: str) -> FailedError:
    text = f"{path}, {where}: {why}" if where else f"{path}: {why}"
    return FailedError(text, "MPICH would end or ignore it")
