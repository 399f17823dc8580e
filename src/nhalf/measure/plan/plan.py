"""What a run measures: the plan, its blocks and its points."""

from __future__ import annotations

import functools
from typing import Annotated, Any, NamedTuple

import msgspec

from nhalf.measure.plan.setting import JOINT, Setting
from nhalf.measure.plan.sizes import Sizes, sizes_of
from nhalf.sites.placement import CORES, Placement

Positive = Annotated[float, msgspec.Meta(gt=0)]
Fraction = Annotated[float, msgspec.Meta(ge=0, lt=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]

_BLOCK_KEYS = ("patterns", "ranks", "bytes")


class Block(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Some patterns, each measured at every number of ranks, placement, size and value of axes.

    `bytes` is the text that sizes.py parses, `axes` maps names to texts that axes.py parses; an
    axis that is not named takes what its pattern declares. `launches` and `precision` default to
    the plan's (0). `weight` is the block's part of the time, relative to other blocks. A `whole`
    block keeps all of its points where time is short, or is left out entirely, because its result
    needs all of them. `settings` names the settings that measure the block, '' for libraries as
    they are; None for all. `transports` names the transports that measure it; None for all.
    Texts are what is stored; they are parsed once into `parsed_placements` and `sizes_on`.
    """

    patterns: list[str]
    ranks: list[int]
    bytes: str
    axes: dict[str, str] = {}
    placements: list[str] = msgspec.field(default_factory=lambda: [CORES])
    launches: Count = 0
    weight: Positive = 1.0
    precision: Fraction = 0.0
    whole: bool = False
    settings: list[str] | None = None
    transports: list[str] | None = None

    def is_for(self, transport: str, setting: str) -> bool:
        """Whether a transport under a setting ('' without one) measures it."""
        is_setting = self.settings is None or setting in self.settings
        plain = transport.partition(JOINT)[0]
        return is_setting and (self.transports is None or plain in self.transports)

    @functools.cached_property
    def parsed_placements(self) -> tuple[Placement, ...]:
        """The placements as parsed, which may be unknown."""
        return tuple(map(Placement.parse, self.placements))

    def sizes_on(self, ranks: int) -> Sizes:
        """Return its sizes on this many ranks. Raises InputError for an invalid text."""
        if ranks not in self._sizes_by_ranks:
            self._sizes_by_ranks[ranks] = sizes_of(self.bytes, ranks)
        return self._sizes_by_ranks[ranks]

    @functools.cached_property
    def _sizes_by_ranks(self) -> dict[int, Sizes]:
        """The sizes that have been parsed."""
        return {}


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The choices of one run, kept in run.json, so that it can be resumed.

    `budget_s` 0 means the default seconds for each curve (budget.py); `options` goes to the
    transport (model parameters); `study` names the source of the blocks, '' if a user chose every
    pattern: then a pattern that nothing can run is an error and not a warning. `hosts` and
    `host_file` are what the user named, '' if nothing; `hosts_found` is the number of hosts the
    run began with, so that it does not continue elsewhere unnoticed. Every library is measured as
    it is, and under each of the `settings`; with `one_library` only the first that works is.
    Unless `launches_fixed`, a budget has more launches, of shorter slices, where they serve more.
    `looks` is how often the run is compared with an earlier one while it goes on.
    `app` is the application that transports run as one of their patterns, '' without one: an
    application's own programs name theirs.
    """

    transports: list[str]
    mpi: list[str]
    blocks: list[Block]
    launches: int
    budget_s: float
    precision: float
    options: str
    seed: int
    timeout_s: float
    mpi_prefixes: list[str] = []
    study: str = ""
    hosts: str = ""
    host_file: str = ""
    launcher: str = ""
    hosts_found: Count = 0
    settings: list[Setting] = []
    app: str = ""
    one_library: bool = False
    launches_fixed: bool = False
    looks: Count = 1

    @property
    def patterns(self) -> list[str]:
        """The patterns of all blocks, each once."""
        return list(dict.fromkeys(name for block in self.blocks for name in block.patterns))

    def launches_of(self, block: Block) -> int:
        """Return how often the processes are started for a block."""
        return block.launches or self.launches

    def precision_of(self, block: Block) -> float:
        """Return the relative half-width of the interval that a block's points aim at."""
        return block.precision or self.precision


class Start(NamedTuple):
    """Processes that are started together, once in every launch; `subject` is its key."""

    subject: str
    ranks: int
    placement: str


class Point(NamedTuple):
    """One thing to measure on one subject.

    `axes` is the text of store/axes.py; an algorithm is one of the axes here, and a column in
    the store (measure/plan/algorithm.py).
    """

    pattern: str
    ranks: int
    size_bytes: int
    placement: str = CORES
    axes: str = ""


def read_plan(content: dict[str, Any]) -> Plan:
    """Read the plan in run.json; a plan of version 1 becomes one block.

    Raises msgspec.ValidationError if it is not a plan.
    """
    if "blocks" not in content and set(_BLOCK_KEYS) <= set(content):
        content = dict(content)
        block = {key: content.pop(key) for key in _BLOCK_KEYS}
        block["placements"] = [content.pop("placement", CORES)]
        content["blocks"] = [block]
    return msgspec.convert(content, Plan)
