"""What a run measures: the plan, its blocks and its points.

A library with a setting, environment variables of its own, is measured as a separate library.
Beside `openmpi-5.0.11` there is then `openmpi-5.0.11+NAME`, whose processes are started with the
variables of the setting; launches of both are interleaved, so that they can be compared. Names
with a dot are options of a transport: 'NAME: shmq.polling=directed' is `shmq+NAME`.
"""

import dataclasses
import functools
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import msgspec

from nhalf.base.errors import InputError
from nhalf.base.units import parse_size
from nhalf.mpi import Library
from nhalf.sites.environment import cache_bytes
from nhalf.sites.placement import CORES, Placement, allowed_cpus, last_level_caches

SIZES_MAX = 100_000
B_EFF = "b_eff"
B_EFF_SHARE = 128
"""The longest message of b_eff is one in this many parts of a process's memory,"""
B_EFF_BYTES_MAX = 128 << 20
"""and at most this long."""
MEMORY = "memory"
CACHES_PER_ARRAY = 4
"""An array to be read from memory is this many times as large as all last-level caches."""
ARRAY_SHARE = 8
"""An array takes at most one in this many parts of the memory, a probe's limit for a buffer."""
UNKNOWN_CACHE_BYTES = 32 << 20


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes, increasing; `adaptive` if further sizes may be inserted."""

    size_bytes: tuple[int, ...]
    adaptive: bool


def parse_sizes(text: str) -> Sizes:
    """Parse '0:4M' (powers of two, then refined), '0,8,4K' (just these) or '0:2000:1' (all).

    Raises InputError if the text is none of these or has too many sizes.
    """
    if ":" not in text:
        return Sizes(tuple(sorted({parse_size(part) for part in text.split(",")})), adaptive=False)
    parts = [parse_size(part) for part in text.split(":")]
    if len(parts) not in (2, 3):
        raise InputError(f"{text!r} is not a range of sizes", "write 0:4M or 0:2000:1")
    low, high = parts[:2]
    if low > high:
        raise InputError(f"the range {text!r} ends before it begins", f"write {high}:{low}")
    if len(parts) == 2:
        return Sizes(_powers_of_two(low, high), adaptive=True)
    step = parts[2]
    if step == 0:
        raise InputError(f"the range {text!r} has a step of 0", "give a step of 1 or more")
    if (high - low) // step >= SIZES_MAX:
        raise InputError(f"{text!r} is more than {SIZES_MAX} sizes", "take a larger step")
    return Sizes(tuple(range(low, high + 1, step)), adaptive=False)


def sizes_text(sizes: Iterable[int]) -> str:
    """Sizes in the notation of blocks."""
    return ",".join(map(str, sorted(set(sizes))))


def sizes_of(text: str, ranks: int) -> Sizes:
    """Parse sizes, or their purpose, for this many ranks on this machine.

    'b_eff' stands for the message lengths of that benchmark; 'b_eff:8M' sets the longest length
    instead of deriving it from the memory. 'memory' is the size of an array that no cache of this
    machine holds.
    """
    if text == MEMORY:
        return Sizes((array_bytes(last_level_bytes(), memory_bytes()),), adaptive=False)
    if text.partition(":")[0] != B_EFF:
        return parse_sizes(text)
    longest = text.partition(":")[2]
    longest_bytes = parse_size(longest) if longest else b_eff_longest(memory_bytes(), ranks)
    if longest_bytes <= 8192:
        raise InputError(f"{text!r} ends too early", "the longest length is 8K or more")
    return Sizes(b_eff_lengths(longest_bytes), adaptive=False)


def b_eff_longest(host_bytes: int, ranks: int) -> int:
    """Return the longest length of b_eff in bytes for ranks that share the memory of a host."""
    return min(host_bytes // ranks // B_EFF_SHARE, B_EFF_BYTES_MAX)


def b_eff_lengths(longest_bytes: int) -> tuple[int, ...]:
    """Return the 21 lengths of b_eff: 1, 2, 4 to 4096 B, then eight equal factors to the longest.

    R. Rabenseifner, A. Koniges: Effective communication and file-I/O bandwidth benchmarks,
    Euro PVM/MPI 2001.
    """
    factor = (longest_bytes / 4096) ** (1 / 8)
    return (*(1 << k for k in range(13)), *(round(4096 * factor**j) for j in range(1, 9)))


def array_bytes(all_caches_bytes: int, host_bytes: int) -> int:
    """Return the size of one array of STREAM, in whole MiB: four times all caches, if possible.

    J. D. McCalpin, STREAM's run rules: each array is at least four times the sum of all last-level
    caches.
    """
    size_bytes = min(CACHES_PER_ARRAY * all_caches_bytes, host_bytes // ARRAY_SHARE)
    return max(1, size_bytes >> 20) << 20


def last_level_bytes() -> int:
    """Return the total size of the usable last-level caches; 32 MiB each if unknown."""
    largest = max(cache_bytes().values(), default=UNKNOWN_CACHE_BYTES)
    return largest * len(last_level_caches(allowed_cpus()))


def memory_bytes() -> int:
    """Return the memory of this host in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _powers_of_two(low: int, high: int) -> tuple[int, ...]:
    """Return both ends and every power of two between them."""
    powers = {1 << exponent for exponent in range(41)}
    return tuple(sorted({low, high} | {power for power in powers if low < power < high}))


JOINT = "+"
"""Joins a library's name and the name of a setting."""
HOW = 'write "NAME: VAR=value VAR2=value"'
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VARIABLE = re.compile(r"([a-z0-9]+\.)?[A-Za-z_][A-Za-z0-9_]*")
_KEPT = ("LD_LIBRARY_PATH", "OPAL_PREFIX", "I_MPI_ROOT")
"""Variables that decide which library runs: another value would measure another library."""


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Named variables; `only` is the full name of the library that has them, '' for all."""

    name: str
    variables: dict[str, str]
    only: str = ""

    @property
    def transport(self) -> str:
        """The transport whose options it sets, '' if it sets variables."""
        return next(iter(self.variables)).rpartition(".")[0]

    @property
    def options(self) -> dict[str, str]:
        """The values by names of the transport's options."""
        return {name.rpartition(".")[2]: value for name, value in self.variables.items()}


def parse_settings(texts: Iterable[str]) -> list[Setting]:
    """Parse settings as written on the command line, each name once.

    Raises InputError for anything else.
    """
    settings = [parse_setting(text) for text in texts]
    check_settings(settings)
    return settings


def parse_setting(text: str) -> Setting:
    """Parse 'NAME: VAR=value VAR2="a value"'; raises InputError for anything else."""
    name, colon, assignments = text.partition(":")
    name = name.strip()
    if not colon:
        raise InputError(f"the setting {text!r} has no name", HOW)
    try:
        words = shlex.split(assignments)
    except ValueError as error:
        raise InputError(f"the setting {name!r} cannot be read: {error}", HOW) from error
    variables: dict[str, str] = {}
    for word in words:
        variable, equals, value = word.partition("=")
        if not equals:
            raise InputError(f"{word!r} of the setting {name!r} is no VAR=value", HOW)
        if variable in variables:
            raise InputError(f"{variable} stands twice in the setting {name!r}", "give it once")
        variables[variable] = value
    return Setting(name, variables)


def check_settings(settings: Sequence[Setting]) -> None:
    """Raises InputError for invalid names and variables, and for a repeated name."""
    names: set[tuple[str, str]] = set()
    for setting in settings:
        if not _NAME.fullmatch(setting.name):
            raise InputError(
                f"{setting.name!r} is no name of a setting",
                "begin with a letter or digit; those, '.', '_' and '-' may follow",
            )
        if (setting.name, setting.only) in names:
            raise InputError(f"the setting {setting.name!r} is given twice", "name it otherwise")
        names.add((setting.name, setting.only))
        if not setting.variables:
            raise InputError(f"the setting {setting.name!r} sets nothing", HOW)
        for variable, value in setting.variables.items():
            _check_variable(setting.name, variable, value)
        if len({variable.rpartition(".")[0] for variable in setting.variables}) > 1:
            raise InputError(
                f"the setting {setting.name!r} is for more than one transport",
                "give each transport its own setting, and variables another",
            )


def _check_variable(name: str, variable: str, value: str) -> None:
    if not _VARIABLE.fullmatch(variable):
        raise InputError(f"{variable!r} of the setting {name!r} is no name of a variable", HOW)
    if variable in _KEPT:
        raise InputError(
            f"the setting {name!r} may not set {variable}, which decides what library runs",
            "name another library with --mpi or --mpi-prefix",
        )
    if "\0" in value or "\n" in value:
        raise InputError(f"{variable} of the setting {name!r} is not one line", HOW)


def under(library: Library, setting: Setting) -> Library:
    """Return the library with the variables of a setting."""
    return dataclasses.replace(
        library,
        name=f"{library.name}{JOINT}{setting.name}",
        environment={**library.environment, **setting.variables},
    )


def split_name(name: str) -> tuple[str, str]:
    """Split a name in the store into the library and the setting ('' without one)."""
    library, _, setting = name.partition(JOINT)
    return library, setting


Positive = Annotated[float, msgspec.Meta(gt=0)]
Fraction = Annotated[float, msgspec.Meta(ge=0, lt=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]

_BLOCK_KEYS = ("patterns", "ranks", "bytes")


class Block(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Some patterns, each measured at every number of ranks, placement, size and value of axes.

    `bytes` is what parse_sizes reads, `axes` maps names to texts that axes.py parses; an
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
    `looks` is how often the run is compared with an earlier one while it goes on. With
    `draws_cores`, launches have cores of their own where the launcher would repeat them.
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
    draws_cores: bool = False

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

    `axes` is the text of store/keys.py; an algorithm is one of the axes here, and a column in
    the store (measure/plan/axes.py).
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
