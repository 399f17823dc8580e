"""Machine files: a machine as TOML, written atomically, with errors that name their place."""

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
from msgspec.structs import replace

from nhalf.base.errors import InputError
from nhalf.base.files import write_bytes
from nhalf.base.typed_toml import toml_of
from nhalf.base.unreadable import UNREADABLE, check_keys
from nhalf.machines.curve import PINGPONG
from nhalf.machines.machine import SCHEMA, FittedModel, Machine, PublishedPoint, Segment
from nhalf.machines.published_table import PublishedTable
from nhalf.models.terms import check_terms

DISTANCE = "distance="


def with_tables(machine: Machine) -> Machine:
    """The machine with its tables as curves and points, those of the file itself first.

    Raises InputError for a table whose source the file does not name.
    """
    for table in machine.tables:
        if table.source > len(machine.sources):
            reason = f"a table of {table.pattern} names source {table.source}"
            raise InputError(reason, f"the file has {len(machine.sources)}: add it to `sources`")
    curves = tuple(curve_of(table) for table in machine.tables if is_curve(table))
    points = [point for table in machine.tables if not is_curve(table) for point in _points(table)]
    return replace(
        machine,
        models=(*machine.models, *curves),
        points=(*machine.points, *points),
        tables=(),
    )


def is_curve(table: PublishedTable) -> bool:
    """Whether a table is a curve of messages, and not a figure beside those of the machine."""
    if table.pattern != PINGPONG or table.time_s is None or len(table.size_bytes) < 2:
        return False
    return not table.axes or table.axes.startswith(DISTANCE)


def curve_of(table: PublishedTable) -> FittedModel:
    """The curve through the points of a table, straight between two sizes.

    Where a longer message takes less, it takes as long as the shorter one up to there.
    """
    points = list(zip(table.size_bytes, table.values, strict=True))
    segments = [_between(*ends) for ends in pairwise(points)]
    last_bytes = table.size_bytes[-1]
    segments[-1] = replace(segments[-1], to_bytes=last_bytes)
    if points[-1][1] < points[-2][1]:
        segments[-1] = replace(segments[-1], to_bytes=last_bytes - 1)
        segments.append(Segment(from_bytes=last_bytes, to_bytes=last_bytes, t0_s=points[-1][1]))
    return FittedModel(
        transport=table.transport,
        mpi=table.mpi,
        pattern=table.pattern,
        algorithm="native",
        ranks=table.ranks,
        placement=table.placement,
        axes=table.axes,
        segments=tuple(segments),
        source=table.place,
        is_table=True,
    )


def _between(start: tuple[int, float], end: tuple[int, float]) -> Segment:
    """The line from one published size to the byte before the next."""
    (size, time_s), (next_size, next_s) = start, end
    per_byte_s = max(0.0, (next_s - time_s) / (next_size - size))
    t0_s = time_s - per_byte_s * size
    r_inf_Bps = 1 / per_byte_s if per_byte_s else math.inf
    return Segment(from_bytes=size, to_bytes=next_size - 1, t0_s=t0_s, r_inf_Bps=r_inf_Bps)


def _points(table: PublishedTable) -> Iterator[PublishedPoint]:
    sizes = table.size_bytes or (None,)
    for size_bytes, value in zip(sizes, table.values, strict=True):
        yield PublishedPoint(
            pattern=table.pattern,
            ranks=table.ranks,
            size_bytes=size_bytes,
            placement=table.placement,
            axes=table.axes,
            time_s=value if table.time_s else None,
            rate_Bps=value if table.rate_Bps else None,
            what=table.note,
            source=table.place,
        )


def encode(machine: Machine) -> bytes:
    """The machine as TOML. Infinite rates are left out: absent means infinite."""
    content = msgspec.to_builtins(machine)
    for model in content["models"]:
        for segment in model["segments"]:
            for name in ("r_inf_Bps", "n_half_bytes"):
                if not math.isfinite(segment[name]):
                    del segment[name]
    return toml_of(content)


def write(machine: Machine, path: Path) -> None:
    """Write the file whole or not at all; raises MissingError if it cannot be written."""
    write_bytes(Path(path), encode(machine))


def read(path: Path) -> Machine:
    """Read a machine file; raises InputError if it is none, damaged or of another version."""
    path = Path(path)
    if path.is_dir():
        remedy = f"if it is a run, `nhalf fit {path}` writes {path / 'machine.toml'}"
        raise InputError(f"{path} is a folder, not a machine file", remedy)
    try:
        text = path.read_bytes()
        check_keys(text)
        content = msgspec.toml.decode(text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot read the machine file {path}: {reason}") from None
    except UNREADABLE as error:
        raise _damaged(path, str(error)) from None
    version = content.get("schema")
    if not isinstance(version, int) or isinstance(version, bool):
        raise _damaged(path, "it has no schema version")
    if version != SCHEMA:
        message = f"{path} has schema version {version}, this nhalf reads version {SCHEMA}"
        raise InputError(message, "fit the run again, or use the nhalf that wrote the file")
    try:
        machine = with_tables(msgspec.convert(content, Machine))
    except (msgspec.ValidationError, InputError) as error:
        raise _damaged(path, str(error)) from None
    for place, pattern in enumerate(machine.patterns):
        for terms in (pattern.startup_s, pattern.per_byte_s, pattern.per_root_byte_s):
            try:
                check_terms(terms)
            except InputError as error:
                reason = f"{path}: patterns[{place}]: {error.message}"
                raise InputError(reason, error.remedy) from None
    return machine


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(
        f"{path} is not a machine file: {reason}", "write it again with nhalf fit RUN --out FILE"
    )
