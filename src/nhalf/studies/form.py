"""The form of a published study: what to measure, its tables and figures, its conclusions.

No published value is written in it: they come from the machines of record.
"""

import itertools
from collections.abc import Sequence
from typing import Literal

import msgspec

from nhalf.base.errors import unknown
from nhalf.base.units import parse_size
from nhalf.measure.plan.axes import expand
from nhalf.measure.plan.catalogue import StudyFile
from nhalf.studies.node_figures import NODE_FIGURES
from nhalf.studies.value import Unit, unit_of_name

Figure = (
    Literal["time", "rate", "throughput", "t0", "r-inf", "n-half", "error"]
    | Literal["b_eff", "per-process", "at-longest", "rings-at-longest", "pingpong"]
    | Literal["L", "o_s", "o_r", "o", "g", "G", "half-round-trip", "busy-share"]
    | Literal["crossover"]
)
ROOT = "root_s"
"""An `extra` of some patterns; of others it is the time of rank 0 among those of all ranks."""
UNITS: dict[str, Unit] = {
    **dict.fromkeys(("time", "t0", "L", "o_s", "o_r", "o", "g", "half-round-trip"), "s"),
    **dict.fromkeys(("n-half", "crossover"), "bytes"),
    "error": "ratio",
    "busy-share": "ratio",
    "G": "s/B",
}
"""By figure; all others are rates."""


class Quantity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One number of a machine: the time of a pattern, a rate, or a parameter of its messages.

    `transport` is that of the machine if it is empty; `ranks` are the most to be taken of a run,
    and a published b_eff has ranks of its own. `phase` is of patterns with phases, and of distances
    between ranks. `machine` is a machine of record that is taken instead of that in question.
    A rate counts the bytes of a message, the throughput those of all that move at once; `placement`
    is where messages go, for traffic that part of it. The `crossover` of long active messages is
    the size from which on bulk copies are faster than stores. `axes` are as for `nhalf run --axis`,
    and `extra` is a result that a point has beside its time; points that have `default_axes` at
    another value are of other numbers. `mapping` is how records place ranks for traffic.
    `predicted` asks of records for the prediction without what was published of the pattern. With
    `node` it is a number of the node alone (node_figures.py).
    """

    pattern: str = ""
    algorithm: str = "native"
    transport: str = ""
    ranks: int = 2
    bytes: str | int = 0
    figure: Figure = "time"
    phase: Literal["", "first", "middle", "last"] = ""
    placement: Literal["", "on-node", "off-node"] = ""
    axes: dict[str, str | int] = {}
    default_axes: list[str] = []
    extra: str = ""
    mapping: Literal["block", "cyclic"] = "block"
    predicted: bool = False
    node: str = ""
    machine: str = ""

    def __post_init__(self) -> None:
        if bool(self.pattern) == bool(self.node):
            raise ValueError("a number has either a pattern or a node")
        if self.node and self.node not in NODE_FIGURES:
            raise ValueError(str(unknown("number of a node", self.node, NODE_FIGURES)))

    @property
    def size_bytes(self) -> int:
        """The size of a message."""
        return self.bytes if isinstance(self.bytes, int) else parse_size(self.bytes)

    @property
    def unit(self) -> Unit:
        """The unit of the number."""
        if self.node:
            return NODE_FIGURES[self.node].unit
        return unit_of_name(self.extra) if self.extra else UNITS.get(self.figure, "Bps")

    def axis_values(self, ranks: int) -> dict[str, str]:
        """The values of its axes among this many ranks; raises InputError if one has none."""
        values: dict[str, str] = {}
        for name, text in self.axes.items():
            values[name] = expand(str(text), {"ranks": ranks, **values})[0]
        return values


def apart(quantities: Sequence[Quantity]) -> list[Quantity]:
    """Numbers side by side: no point counts for one that has an axis that only another one names.

    "By shared pointers" is not "by shared pointers, in blocks of one".
    """
    axes: dict[str, set[str]] = {}
    for quantity in quantities:
        axes.setdefault(quantity.pattern, set()).update(quantity.axes)
    return [
        msgspec.structs.replace(own, default_axes=sorted(axes[own.pattern] - own.axes.keys()))
        for own in quantities
    ]


class StudyPoint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published point of a machine of record."""

    machine: str
    pattern: str
    ranks: int = 2
    bytes: str | int | None = None
    axes: str = ""

    @property
    def size_bytes(self) -> int | None:
        """The size of a message; None if there is none."""
        return parse_size(self.bytes) if isinstance(self.bytes, str) else self.bytes


class Conclusion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sentence, and a test: a number, or its ratio `over` another, in relation to a limit.

    `statement` is what the document says, in our words, and `place` where: its chapter, table or
    figure. Without them the conclusion is nhalf's own, of numbers that the document has. `drawn_on`
    are the machines of which it is drawn, all of them the document's.

    Without a `limit` it is the published number itself; `published` points to what the document
    says, where that is not the number of a formula. `not_of` says of records why they cannot tell
    it, though they predict a number, and `not_elsewhere` why it says nothing of any machine but
    those that it is drawn on; with fewer than `ranks_least` it does not show. `contained_in` are
    records of which a number was inferred from it.
    """

    id: str
    claim: str
    statement: str = ""
    place: str = ""
    value: Quantity
    over: Quantity | None = None
    relation: Literal["at least", "at most", "about"] = "at least"
    limit: float | None = None
    within_share: float = 0.0
    published: StudyPoint | None = None
    ranks_least: int = 2
    drawn_on: list[str] = []
    not_of: dict[str, str] = {}
    contained_in: list[str] = []
    not_elsewhere: str = ""

    def __post_init__(self) -> None:
        if bool(self.statement) != bool(self.place):
            raise ValueError(
                "a statement takes its place in the document, and a place its statement"
            )
        if self.value == self.over:
            raise ValueError("a number is compared with itself")

    @property
    def is_own(self) -> bool:
        """Whether nhalf adds it: the document has the numbers, and does not say it."""
        return not self.statement

    @property
    def stated_at(self) -> StudyPoint | None:
        """Where the document gives its number: `published`, or else a ratio to another machine."""
        value = self.value
        if self.published or not (value.machine and self.drawn_on):
            return self.published
        return StudyPoint(
            machine=self.drawn_on[0],
            pattern=value.pattern,
            ranks=value.ranks,
            bytes=value.size_bytes or None,
            axes=f"over={value.machine}",
        )

    @property
    def quantities(self) -> tuple[Quantity, Quantity | None]:
        """The number and the one that it is divided by, told apart by their axes."""
        if self.over is None:
            return self.value, None
        value, over = apart([self.value, self.over])
        return value, over

    @property
    def unit(self) -> Unit:
        """The unit of the number that is tested."""
        return self.value.unit if self.over is None else "ratio"


class StudyColumn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column of a table of machines."""

    title: str
    value: Quantity


class TableForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table: one row per machine."""

    id: str
    title: str
    column: list[StudyColumn]


class FigureForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure as numbers: one row for each place on its axis, one column per machine."""

    id: str
    title: str
    value: Quantity
    axis: Literal["bytes", "ranks", "node"]
    at: list[str | int]


class OptionsForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options weighed against each other: time, cost, and the product of both, a row each.

    There is an option for each combination of values of the axes in `over`, separated by commas;
    its cost is the result `cost` that a point has beside its time.
    """

    id: str
    title: str
    value: Quantity
    over: dict[str, str]
    time_title: str
    cost: str
    cost_title: str
    product_title: str

    @property
    def options(self) -> dict[str, Quantity]:
        """The number of each option by its name."""
        values = [text.split(",") for text in self.over.values()]
        return {
            ", ".join(choice): msgspec.structs.replace(
                self.value, axes={**self.value.axes, **dict(zip(self.over, choice, strict=True))}
            )
            for choice in itertools.product(*values)
        }


class ContradictionCause(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why conclusions on some patterns come out otherwise in virtual time than in the document."""

    patterns: list[str]
    why: str


class StudyForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A study as written. `measure` is an ordinary study of `nhalf run`.

    `machines` are its machines, each a list of records: one for each transport that was measured.
    `parts` are further files, beside this one, with tables, figures and conclusions. With `node` a
    node is measured as well, briefly, after the messages. `not_virtual` says of machines and
    patterns why virtual time cannot tell their conclusions, and `cause` why it contradicts others.
    """

    title: str
    source: str
    machines: list[list[str]]
    measure: StudyFile
    node: bool = False
    parts: list[str] = []
    table: list[TableForm] = []
    figure: list[FigureForm] = []
    options: list[OptionsForm] = []
    conclusion: list[Conclusion] = []
    not_virtual: dict[str, str] = {}
    cause: list[ContradictionCause] = []
