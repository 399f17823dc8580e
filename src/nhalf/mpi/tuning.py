"""The tuner of a library: its vendor's, or nhalf's own preloaded table, which works with any.

The table selects the algorithms of native/algorithms, shared memory in its variants, and copies out
of other ranks' memory: libnhalf_coll.so takes the calls before the library does. An algorithm is
forced by a table of one rule. One that cuts messages is several algorithms here, as in Open MPI:
chain cuts them every 8 KiB, chain:32768 every 32 KiB.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import FailedError, InputError
from nhalf.base.folders import cache_folder, write_cached
from nhalf.machines.algorithms import algorithms
from nhalf.models.expression import PART_BYTES
from nhalf.mpi import Library
from nhalf.mpi.decision_table import NATIVE, Rule, read_table, table_text
from nhalf.mpi.preload import preload
from nhalf.mpi.probe import probe_executable
from nhalf.mpi.tuner import Tuner, content
from nhalf.mpi.vendors import vendor_of

OWN = "nhalf"
"""The tuner for any library, through a preloaded library of nhalf."""
SHARED_MEMORY = "shared-memory"
SINGLE_COPY = "single-copy"
STREAMING = "shared-memory-streaming"
HIERARCHICAL = "shared-memory-hierarchical"
WAYS_WITHOUT = {
    SHARED_MEMORY: (),
    SINGLE_COPY: ("barrier", "scan"),
    STREAMING: ("barrier", "scan"),
    HIERARCHICAL: ("reduce", "allgather", "alltoall", "gather", "scatter", "scan"),
}
"""The ways on one node, with the operations that cannot go them (native/interposer/table.hpp)."""
TRIED_BYTES = {
    SINGLE_COPY: (16384, math.inf),
    STREAMING: (65536, math.inf),
    HIERARCHICAL: (0, 4096),
}
"""The sizes from and to which a way may gain: a system call, the buffers of shared memory, and one
buffer of them."""
PARTS_BYTES = (PART_BYTES, 32768, 131072, 524288)
"""The sizes of parts that are tried, the algorithm's own first."""
OTHER_SIZES = ("reduce-scatter",)
"""Operations measured by the whole vector, while a table has one block."""


def tuner_for(library: Library, to: str = "") -> Tuner:
    """The tuner that writes `to`: 'nhalf', one of the library's file formats, or '' for its usual.

    Raises InputError for an unknown format, and for a library without tuning files.
    """
    tuner = OwnTable(library, "") if to == OWN else vendor_of(library).tuner(library, to)
    if tuner is None:
        raise InputError(
            f"{library.name} has no tuning file of its own", f"write a table with --to {OWN}"
        )
    return tuner


class OwnTable(Tuner):
    """The table of libnhalf_coll.so."""

    description: ClassVar[str] = "any library: nhalf's decision table, read by libnhalf_coll.so"
    forms: ClassVar[dict[str, str]] = {"table": "nhalf.table"}

    def algorithms(self, operation: str) -> list[str]:
        """The names of nhalf's algorithms, with their sizes of parts, and the ways on one node."""
        names = [algorithm.name for algorithm in algorithms().get(operation, ())]
        cut = [
            f"{algorithm.name}:{part_bytes}"
            for algorithm in algorithms().get(operation, ())
            if algorithm.cost is not None and algorithm.cost.cuts
            for part_bytes in PARTS_BYTES[1:]
        ]
        ways = [way for way, without in WAYS_WITHOUT.items() if operation not in without]
        return [*names, *cut, *ways] if names and operation not in OTHER_SIZES else []

    def suits(self, operation: str, algorithm: str, ranks: int) -> bool:
        """Whether an algorithm does anything else with this many ranks than shared memory.

        Two ranks have no leader, and combine terms before anything could be stored past a cache.
        """
        is_alike = algorithm == HIERARCHICAL or (
            algorithm == STREAMING and operation in ("reduce", "allreduce")
        )
        return super().suits(operation, algorithm, ranks) and not (is_alike and ranks < 3)

    def expressible(self, rules: Sequence[Rule]) -> list[Rule]:
        """The rules, of which those for a way on one node end with the sizes for which it is."""
        most_bytes = {way: most for way, (_, most) in TRIED_BYTES.items()}
        return [
            replace(rule, to_bytes=min(rule.to_bytes, most_bytes.get(rule.algorithm, math.inf)))
            for rule in rules
        ]

    def differs(self, operation: str, algorithm: str, size_bytes: int) -> bool:
        """Whether a message of this size has more parts of the size before this one than one.

        A way on one node is tried where it may gain.
        """
        if algorithm in TRIED_BYTES:
            least_bytes, most_bytes = TRIED_BYTES[algorithm]
            return least_bytes <= size_bytes <= most_bytes
        part_bytes = _as_written(Rule(operation, 0, math.inf, 0, math.inf, algorithm)).part_bytes
        if part_bytes is None:
            return True
        return size_bytes > max((size for size in PARTS_BYTES if size < part_bytes), default=0)

    def force(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """The variables of a table of these algorithms alone, which is cached."""
        rules = [
            Rule(operation, 0, math.inf, 0, math.inf, chosen[operation])
            for operation in sorted(chosen)
        ]
        text = self.text(rules)
        name = f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.table"
        return self.activate(write_cached(cache_folder() / "tables" / name, text))

    def text(self, rules: Sequence[Rule]) -> str:
        """The text of the table."""
        return table_text([_as_written(rule) for rule in rules])

    def read(self, path: Path) -> list[Rule]:
        """Read the table, whose algorithms have to be known."""
        content(path)
        try:
            rules = read_table(path)
        except InputError as error:
            raise FailedError(error.message, error.remedy) from None
        for rule in rules:
            choices = (*self.algorithms(rule.operation), NATIVE)
            if rule.algorithm not in choices:
                raise FailedError(
                    f"{path}: {rule.operation} has no algorithm {rule.algorithm!r}",
                    "nhalf run --algorithm all shows those that there are",
                )
            if rule.part_bytes and f"{rule.algorithm}:{PARTS_BYTES[1]}" not in choices:
                raise FailedError(
                    f"{path}: {rule.operation} by {rule.algorithm} does not cut messages",
                    "leave out the size of a part",
                )
        return [_as_named(rule) for rule in rules]

    def activate(self, path: Path) -> dict[str, str]:
        """The variables of the library to preload, and of its table."""
        return preload(self.library, probe_executable(self.library), path).variables


def _as_written(rule: Rule) -> Rule:
    """A rule as it is in a table: 'chain:32768' is chain in parts of 32768 bytes."""
    algorithm, _, part = rule.algorithm.partition(":")
    return replace(rule, algorithm=algorithm, part_bytes=int(part) if part else rule.part_bytes)


def _as_named(rule: Rule) -> Rule:
    """A rule of a table by the names that a tuner has."""
    if rule.part_bytes in (None, PART_BYTES):
        return replace(rule, part_bytes=None)
    return replace(rule, algorithm=f"{rule.algorithm}:{rule.part_bytes}", part_bytes=None)
