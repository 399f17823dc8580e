"""Studies: named sets of blocks, in TOML files of this package or of users."""

import functools
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from nhalf.base.errors import InputError, NhalfError, unknown
from nhalf.base.typed_toml import read_toml, typed
from nhalf.base.units import parse_duration
from nhalf.measure.plan.axes import expand, parse_ranks
from nhalf.measure.plan.plan import Block, Count, Fraction, Positive, sizes_of
from nhalf.mpi.transport_files import MPI
from nhalf.sites.placement import CORES, Placement

FOLDER = Path(__file__).parent / "studies"


class StudyBlock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A [[block]] as written; measure/plan/plan.py explains its values.

    `ranks` is a text such as '2:cores:x2'; `cores` are those of this machine. `transports` are
    those of its file unless it names its own.
    """

    patterns: list[str]
    ranks: str | int = "2"
    bytes: str | int = "0:4M"
    axes: dict[str, str | int] = {}
    placements: list[str] = msgspec.field(default_factory=lambda: [CORES])
    launches: Count = 0
    weight: Positive = 1.0
    precision: Fraction = 0.0
    whole: bool = False
    transports: list[str] = []


class StudyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file as written; `include` names other studies, or files beside this one.

    `budget` is the time for the whole study without --budget, `transports` are the transports that
    it measures without --transport. `one_library` means that one MPI library suffices without
    --mpi, because it is not what is measured.
    """

    title: str
    what: str = ""
    include: list[str] = []
    block: list[StudyBlock] = []
    budget: str = ""
    transports: list[str] = []
    one_library: bool = False


class Study(msgspec.Struct, frozen=True):
    """A study with its own blocks and those it includes, each once.

    `transports` are those of all blocks, none if no file names any; `blocks` name theirs unless all
    of these measure them.
    """

    name: str
    title: str
    what: str
    blocks: list[Block]
    budget_s: float = 0.0
    transports: list[str] = []
    one_library: bool = False


def names() -> list[str]:
    """Return the names of the studies that come with nhalf."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def study(name: str, cores: int) -> Study:
    """Read a study by name or file; `cores` is the value of that word in its ranks.

    Raises InputError for an unknown name, and for an invalid file: the error names the file, the
    place and what is allowed.
    """
    path = _path(name, Path())
    content = _read(path)
    blocks = list(_blocks(path, cores, ()))
    once = [block for place, block in enumerate(blocks) if block not in blocks[:place]]
    if not once:
        raise InputError(f"{path} has no block", "add a [[block]] with patterns = [...]")
    budget_s = _checked(path, "budget", parse_duration, content.budget) if content.budget else 0.0
    blocks, transports = _with_transports(once)
    return Study(
        name, content.title, content.what, blocks, budget_s, transports, content.one_library
    )


def _with_transports(blocks: list[Block]) -> tuple[list[Block], list[str]]:
    """Return the blocks of a study with their transports, and the transports of all of them.

    Where some name theirs, MPI measures those that name none.
    """
    if all(block.transports is None for block in blocks):
        return blocks, []
    by_block = [block.transports or [MPI.name] for block in blocks]
    transports = list(dict.fromkeys(itertools.chain(*by_block)))
    return [
        msgspec.structs.replace(block, transports=None if set(own) == set(transports) else own)
        for block, own in zip(blocks, by_block, strict=True)
    ], transports


def _path(name: str, folder: Path) -> Path:
    """Return the path of a study: a file ending in .toml, relative to `folder`, or one of ours."""
    if name.endswith(".toml"):
        return folder / name
    if name not in names():
        raise _unknown(name)
    return FOLDER / f"{name}.toml"


def _unknown(name: str) -> InputError:
    """The error for a name of no study, which may be that of a pattern."""
    from nhalf.measure.probe.pattern import every_info

    try:
        patterns = every_info()
    except NhalfError:  # without probes nothing is known of patterns
        patterns = {}
    if name in patterns:
        return InputError(f"{name} is a pattern, not a study", f"did you mean --pattern {name}?")
    return unknown("study", name, names())


def _blocks(path: Path, cores: int, outer: tuple[Path, ...]) -> list[Block]:
    """Return the blocks of the files that a file includes, then its own."""
    if path.resolve() in outer:
        raise InputError(f"{path} includes itself", "take one include out")
    content = _read(path)
    blocks: list[Block] = []
    for place, name in enumerate(content.include):
        inner = _checked(
            path, f"include[{place}]", functools.partial(_path, folder=path.parent), name
        )
        blocks += _blocks(inner, cores, (*outer, path.resolve()))
    for place, block in enumerate(content.block):
        own = block.transports or content.transports
        read = _block(path, f"block[{place}]", block, cores)
        blocks.append(msgspec.structs.replace(read, transports=own or None))
    return blocks


def _block(path: Path, place: str, written: StudyBlock, cores: int) -> Block:
    """Return a block with its numbers of ranks listed, checked as far as no probe is needed."""
    if not written.patterns:
        raise InputError(f"{path}: {place}.patterns is empty", "name patterns")
    text = str(written.bytes)
    ranks = _checked(
        path, f"{place}.ranks", functools.partial(parse_ranks, cores=cores), str(written.ranks)
    )
    _checked(path, f"{place}.bytes", functools.partial(sizes_of, ranks=1), text)
    for number, name in enumerate(written.placements):
        _checked(path, f"{place}.placements[{number}]", _check_placement, name)
    axes = {name: str(value) for name, value in written.axes.items()}
    for name, values in axes.items():
        read = functools.partial(expand, variables=_AnyName())
        _checked(path, f"{place}.axes.{name}", read, values)
    read_values = {"ranks": ranks, "bytes": text, "axes": axes, "transports": None}
    return Block(**{**msgspec.structs.asdict(written), **read_values})


def _check_placement(text: str) -> None:
    """Raises InputError for an unknown placement."""
    Placement.parse(text).check()


class _AnyName(dict[str, int | str]):
    """Accepts every name, because only probes know which axes exist."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> int:
        return 1


def _checked(path: Path, place: str, read: Callable[[str], Any], text: str) -> Any:
    """Parse a text with `read`; an error then says where the text stands."""
    try:
        return read(text)
    except InputError as error:
        raise InputError(f"{path}: {place}: {error.message}", error.remedy) from error


def _read(path: Path) -> StudyFile:
    """Read a file of the form StudyFile, which a published study has in its table `measure`."""
    content = read_toml(path)
    return typed(path, content.get("measure", content), StudyFile, {"block": StudyBlock})
