"""A run directory: run.json, journal.jsonl while it runs, measurements.parquet at the end."""

from __future__ import annotations

import contextlib
import math
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from nhalf.base.errors import InputError, Interrupted, MissingError
from nhalf.base.files import replacing
from nhalf.base.unreadable import UNREADABLE
from nhalf.store import parquet
from nhalf.store.described import RUN_DESCRIPTION
from nhalf.store.journal import Journal, events, events_named
from nhalf.store.keys import READ_VERSIONS, VERSION
from nhalf.store.record import ADDED, COLUMNS, points

DESCRIPTION = RUN_DESCRIPTION
JOURNAL = "journal.jsonl"
MEASUREMENTS = "measurements.parquet"
MACHINE = "machine.toml"
"""The simulated machine with every change, or the machine that was fitted to a run."""
VIRTUAL_MACHINE = "virtual-machine.toml"
"""The machine on whose virtual network ranks ran in virtual time."""

_VERSION_KEY = "nhalf.schema"
_JOURNAL_KEY = "nhalf.journal_bytes"


class _Description(msgspec.Struct):
    """The content of run.json besides its version."""

    environment: dict[str, Any] = {}
    plan: dict[str, Any] = {}
    titles: dict[str, str] = {}
    simulation: dict[str, Any] = {}
    virtual: dict[str, Any] = {}
    created: str = ""


class _Event(msgspec.Struct):
    """Any event; only the number of events matters."""


@dataclass(frozen=True)
class Run:
    """One run on the disk. All but `path` comes from run.json.

    `simulation` describes how a machine was simulated; empty for measured runs. `virtual` names the
    machine whose network is virtual; empty for real ones. `created` is when the run began, an ISO
    8601 time; '' in old runs. `new_folders` are those that `create` made,
    innermost first; None for a run that was opened.
    """

    path: Path
    environment: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    simulation: dict[str, Any] = field(default_factory=dict)
    virtual: dict[str, Any] = field(default_factory=dict)
    created: str = ""
    new_folders: tuple[Path, ...] | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The folder's name, and the value of the column `run`; ? stands for what is no text."""
        return as_text(self.path.name)

    @property
    def resuming(self) -> str:
        """The command that goes on with the run, to be shown to a user."""
        is_application = self.environment.get("programs") or self.simulation.get("app")
        verb = "app" if is_application else "run"
        return f"nhalf {verb} --resume {shlex.quote(str(self.path))}"

    @classmethod
    def create(cls, path: Path, description: dict[str, Any]) -> Run:
        """Create a run directory; raises InputError if it already holds a run.

        `description` holds environment, plan and titles; when it was created is added. Raises
        MissingError if the folder cannot be created or written.
        """
        if (path / DESCRIPTION).exists():
            raise InputError(
                f"{path} holds a run already", "choose another --out, or continue it with --resume"
            )
        created = datetime.now(UTC).isoformat(timespec="seconds")
        path = path.absolute()
        folders = tuple(folder for folder in (path, *path.parents) if not folder.exists())
        try:
            path.mkdir(parents=True, exist_ok=True)
            with replacing(path / DESCRIPTION) as part:
                content = {"schema": VERSION, "created": created, **description}
                part.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=2))
        except OSError as error:
            _remove(folders)
            message = f"the run cannot be kept in {path}: {error.strerror}"
            raise MissingError(message, "choose another folder with --out") from error
        return replace(cls.open(path), new_folders=folders)

    @contextlib.contextmanager
    def measuring(self) -> Iterator[None]:
        """Enclose the measuring of a run; one that fails before its first point leaves nothing.

        Neither files nor folders that `create` made remain; an opened run stays as it is, and so
        does one that can go on in another job.
        """
        try:
            yield
        except Interrupted:
            raise
        except BaseException:
            if self.new_folders is not None and not self.has_points():
                for name in (DESCRIPTION, JOURNAL, MEASUREMENTS, MACHINE, VIRTUAL_MACHINE):
                    (self.path / name).unlink(missing_ok=True)
                _remove(self.new_folders)
            raise

    @classmethod
    def open(cls, path: Path) -> Run:
        """A run from its directory, or from any file in it.

        Raises InputError if there is none or its version is not supported.
        """
        folder = path.parent if path.is_file() else path
        file = folder / DESCRIPTION
        if not file.is_file():
            why = "it has no run.json" if path.exists() else "it does not exist"
            raise InputError(f"{path} is not a run directory", why)
        try:
            content = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
            _check_version(file, content.get("schema"))
            description = msgspec.convert(content, _Description)
        except UNREADABLE as error:
            raise InputError(f"{file} is damaged: {error}", "measure again") from error
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror}") from error
        return cls(
            folder.resolve(),
            description.environment,
            description.plan,
            description.titles,
            description.simulation,
            description.virtual,
            description.created,
        )

    def extended(self, plan: dict[str, Any], remarks: dict[str, Any]) -> Run:
        """The run with a different plan in its description, and `remarks` about the change.

        Raises MissingError if the description cannot be written.
        """
        file = self.path / DESCRIPTION
        content = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
        content["plan"] = plan
        content["extended"] = [*content.get("extended", []), remarks]
        try:
            with replacing(file) as part:
                part.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=2))
        except OSError as error:
            raise MissingError(f"{file} cannot be written: {error.strerror}") from error
        return Run.open(self.path)

    def journal(self) -> Journal:
        """The journal, open for appending."""
        return Journal(self.path / JOURNAL, self.resuming)

    def events(self) -> list[dict[str, Any]]:
        """Everything in the journal except the samples of points."""
        return [
            {key: value for key, value in event.items() if key != "samples_s"}
            for event in self.whole_events()
        ]

    def whole_events(self) -> Iterator[dict[str, Any]]:
        """Everything in the journal, one event at a time."""
        return events(self.path / JOURNAL)

    def has_points(self) -> bool:
        """Whether the journal holds a finished point."""
        return any(True for _ in events_named("point", self.path / JOURNAL, _Event))

    def ends(self) -> int:
        """How often the run was completed: more than once if it was resumed afterwards."""
        return sum(1 for _ in events_named("end", self.path / JOURNAL, _Event))

    def measurements(self) -> pl.LazyFrame:
        """One row per visit of a launch to a point, with the columns of store/keys.py.

        Raises InputError if no point was finished, or a file is damaged or its version unsupported.
        """
        file = self.path / MEASUREMENTS
        run_name = pl.lit(self.name).alias("run")
        if file.exists() and self._is_current(file):
            lacking = set(ADDED) - set(parquet.schema(file))
            return parquet.scan(file).with_columns(map(_empty, lacking)).select(run_name, *COLUMNS)
        frame = points(self.path / JOURNAL)
        if frame.height == 0:
            raise self._unfinished()
        return frame.lazy().select(run_name, *COLUMNS)

    def check(self) -> None:
        """Read all measurements once; raises InputError if there are none, or they are damaged."""
        try:
            read = self.measurements().select(pl.all().null_count(), points=pl.len())
            points = read.collect(engine="streaming")["points"].item()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise _damaged(self.path / MEASUREMENTS) from error
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror or error}") from error
        if not points:
            raise self._unfinished()

    def finish(self) -> None:
        """Write the measurements of the journal as Parquet, atomically.

        Raises MissingError if there is no disk space or no permission.
        """
        frame = points(self.path / JOURNAL)
        size_bytes = (self.path / JOURNAL).stat().st_size
        notes = {_VERSION_KEY: str(VERSION), _JOURNAL_KEY: str(size_bytes)}
        try:
            with replacing(self.path / MEASUREMENTS) as part:
                parquet.write(frame, part, notes)
        except (OSError, pl.exceptions.PolarsError) as error:
            cause = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise MissingError(
                f"{self.path / MEASUREMENTS} cannot be written: {cause}",
                f"all points are kept, go on with: {self.resuming}",
            ) from error

    def _unfinished(self) -> InputError:
        return InputError(f"{self.path} holds no finished point", f"go on with: {self.resuming}")

    def _is_current(self, file: Path) -> bool:
        """Whether the Parquet file holds all points of the journal, which may be truncated.

        Raises InputError if the file is damaged or of an unsupported version.
        """
        try:
            notes = parquet.metadata(file)
            columns = parquet.schema(file)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _damaged(file) from error
        version = _check_version(file, notes.get(_VERSION_KEY))
        for name, kind in COLUMNS.items():
            if version == 1 and name in ADDED:
                continue
            if columns.get(name) != kind:
                raise InputError(f"{file} has no column {name} of type {kind}", "measure again")
        journal = self.path / JOURNAL
        if not journal.exists():
            return True
        journal_bytes = notes.get(_JOURNAL_KEY, "")
        return journal_bytes.isdecimal() and journal.stat().st_size <= int(journal_bytes)


def _remove(folders: Iterable[Path]) -> None:
    """Remove empty folders, innermost first; those that hold something stay."""
    with contextlib.suppress(OSError):
        for folder in folders:
            folder.rmdir()


def as_text(name: str) -> str:
    """The name of a file as text."""
    return name.encode(errors="replace").decode()


def _damaged(file: Path) -> InputError:
    return InputError(f"{file} is damaged", "remove it: the journal holds the same")


def _empty(name: str) -> pl.Expr:
    """A column that an older run lacks: empty text or empty lists."""
    kind = COLUMNS[name]
    return pl.lit("" if kind == pl.String() else [], dtype=kind).alias(name)


def _check_version(file: Path, version: object) -> int:
    """The version that a file declares; raises InputError if it cannot be read."""
    for supported in READ_VERSIONS:
        if str(version) == str(supported):
            return supported
    declared = "no version" if version is None else f"version {version}"
    raise InputError(
        f"{file} has {declared}; this nhalf reads versions {' and '.join(map(str, READ_VERSIONS))}",
        "use the nhalf that wrote it",
    )


def launch_interval_s(run: Run) -> float:
    """Seconds from a launch to the next one, the median; NaN with fewer than two launches.

    What ran between two parts of a run that was resumed does not move it.
    """
    first = run.measurements().group_by("launch").agg(pl.col("started_s").min())
    started = first.sort("launch").collect()["started_s"]
    interval_s = started.diff().drop_nulls().median()
    return float(interval_s) if isinstance(interval_s, float) else math.nan


OTHERS = "others"
"""The event of the journal."""
_BEGIN = b'{"event":"others",'


class Others(msgspec.Struct, frozen=True):
    """A launch of a subject, and how many of the cores allowed others kept busy in the mean."""

    subject: str
    launch: int
    ranks: int
    taken_cores: float
    allowed: int


def others(run: Run) -> list[Others]:
    """Every launch of which it is known; journals of earlier versions have none."""
    path = run.path / JOURNAL
    if not path.exists():
        return []
    launches: list[Others] = []
    with path.open("rb") as file:
        # Most lines are samples: only these few are decoded.
        for line in file:
            if line.startswith(_BEGIN):
                with suppress(msgspec.MsgspecError):
                    launches.append(msgspec.json.decode(line, type=Others))
    return launches
