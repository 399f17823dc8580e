"""The files of ranks as the library writes them; native/trace/layout.hpp has the same layout."""

import os
from collections.abc import Iterator, Sequence
from glob import escape
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from nhalf.base.errors import InputError
from nhalf.base.unreadable import UNREADABLE

REGION = "NHALF_FABRIC"
"""By this variable ranks find their machine."""
VARIABLE = "NHALF_FABRIC_ABOUT"
"""By this variable ranks get it as JSON; the library that traces copies it."""
TRACE_FIRST = "nhalf trace goes before nhalf try"
TRACE_FIRST_REMEDY = "write: nhalf trace -- nhalf try --machine M --ranks N -- ./program"


class TracedMachine(msgspec.Struct, frozen=True):
    """A machine of record, the node of each rank, and how computing was counted.

    `computing_factor` is by how much the processor's time was multiplied, 0 if it did not count.
    """

    machine: str
    nodes: tuple[int, ...]
    computing_factor: float = 0.0

    def host(self, rank: int) -> str:
        """The name of the node of a rank."""
        return f"node{self.nodes[rank]}"


def refuse_to_trace_each_rank(command: Sequence[str]) -> None:
    """Raises InputError if the program of a virtual machine is `nhalf trace` itself."""
    words = [Path(command[0]).name, *command[1:4]]
    if "trace" in words[1:] and "nhalf" in words[: words.index("trace")]:
        raise InputError(TRACE_FIRST, TRACE_FIRST_REMEDY)


def refuse_inside() -> None:
    """Raises InputError in a process of a virtual machine: each rank would make its own trace."""
    if REGION in os.environ:
        raise InputError(TRACE_FIRST, TRACE_FIRST_REMEDY)


VERSIONS = (1, 2, 3, 4, 5, 6)
MAGIC = b"NHALFTRC"
HEAD_BYTES = 4096
SPANS = 256
KINDS = 5
AT_SITE, OFF_PROCESSOR = 5, 6
"""Kinds of what is no call: the calls of a site, and time that a thread was off its processor."""
SITES = 1024
SITES_SINCE = 3
"""The first version of files that have call sites, and time off the processor."""
REMEDY = "trace the program again"
SIZES_ROUNDED, PARTNERS_JOINED, TIMELINE_CUT, DISK_FULL, SITES_JOINED = 1, 2, 4, 8, 16

HEAD = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("thread", "<u4"),
        ("begin_ticks", "<u8"),
        ("begin_ns", "<u8"),
        ("last_ticks", "<u8"),
        ("last_ns", "<u8"),
        ("cells", "<u8"),
        ("timeline_records", "<u8"),
        ("lost", "<u4"),
        ("finished", "<u4"),
        ("spans_active", "<u4"),
        ("spans_shift", "<u4", 2),
        ("sites", "<u4"),
        ("spans_begin", "<u8"),
        ("begin_steady_ns", "<u8"),
        ("last_steady_ns", "<u8"),
        ("used_ns", "<u8"),
        ("off_ns", "<u8", 2),
        ("queued_ns", "<u8", 2),
        ("collectives", "<u8"),
        ("computed", "<u8"),
        ("saved_ns", "<i8"),
    ]
)
SPAN = np.dtype([("count", "<u8"), ("bytes", "<u8"), ("time", "<u8")])
CELL = np.dtype(
    [
        ("partner", "<i4"),
        ("communicator", "<u2"),
        ("call_and_kind", "<u2"),
        ("size_bytes", "<i8"),
        ("count", "<i8"),
        ("bytes", "<i8"),
        ("time", "<u8"),
        ("waiting", "<u8"),
        ("least", "<u8"),
        ("most", "<u8"),
    ]
)
RECORD = np.dtype(
    [
        ("begin", "<u8"),
        ("end", "<u8"),
        ("waiting", "<u8"),
        ("size_bytes", "<i8"),
        ("call", "<u2"),
        ("kind", "<u2"),
        ("communicator", "<u2"),
        ("site", "<u2"),
        ("partner", "<i4"),
        ("tag", "<i4"),
    ]
)
SPANS_BYTES = SPANS * KINDS * SPAN.itemsize
SITES_AT = HEAD_BYTES + 2 * SPANS_BYTES
SITE_BYTES = 8


Records = np.ndarray[Any, np.dtype[np.void]]


class ThreadHead:
    """The head of a thread's file, whose `content` may have been read before. Raises InputError if
    that is cut off or of another form.
    """

    def __init__(
        self, path: Path, *, is_all_read: bool = False, content: bytes | None = None
    ) -> None:
        self.path = path
        try:
            if content is None:
                with path.open("rb", buffering=0) as file:
                    content = file.read(-1 if is_all_read else HEAD_BYTES)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}", REMEDY) from error
        self._content = content
        least_bytes = SITES_AT if is_all_read else HEAD_BYTES
        if len(content) < least_bytes or content[: len(MAGIC)] != MAGIC:
            raise InputError(f"{path} is cut off or damaged", REMEDY)
        self.head = np.frombuffer(content, HEAD, 1)[0]
        if int(self.head["version"]) not in VERSIONS:
            raise InputError(
                f"{path} has version {self.head['version']}; this nhalf reads up to {VERSIONS[-1]}",
                "collect it with the nhalf that wrote it",
            )

    @property
    def has_sites(self) -> bool:
        """Whether call sites and time off the processor were recorded."""
        return int(self.head["version"]) >= SITES_SINCE


class ThreadFile(ThreadHead):
    """The counts of one thread. Raises InputError if the file is cut off or of another form."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, is_all_read=True)
        content = self._content
        cells = int(self.head["cells"])
        cells_at = SITES_AT + (SITES * SITE_BYTES if self.has_sites else 0)
        if len(content) < cells_at + cells * CELL.itemsize:
            raise InputError(f"{path} is cut off: it lacks some of its {cells} cells", REMEDY)
        all_cells = np.frombuffer(content, CELL, cells, cells_at)
        is_site = (all_cells["call_and_kind"] & 15) == AT_SITE
        self.cells, self.cells_at_sites = all_cells[~is_site], all_cells[is_site]
        sites = min(int(self.head["sites"]), SITES) if self.has_sites else 0
        self.sites = np.frombuffer(content, "<u8", sites, SITES_AT)
        active = int(self.head["spans_active"]) & 1
        at = HEAD_BYTES + active * SPANS_BYTES
        self.shift = int(self.head["spans_shift"][active])
        self.spans = np.frombuffer(content, SPAN, SPANS * KINDS, at).reshape(SPANS, KINDS)

    def timeline(self) -> Records:
        """Return every complete call; empty without a timeline."""
        return self._records(is_off_processor=False)

    def off_processor(self) -> Records:
        """Return the spans of time that it was off its processor; empty without a timeline."""
        return self._records(is_off_processor=True)

    def _records(self, is_off_processor: bool) -> Records:
        whole = int(self.head["timeline_records"]) - self.timeline_lacks
        if whole <= 0:
            return np.empty(0, RECORD)
        records = np.fromfile(self.timeline_path, RECORD, whole)
        is_chosen = (records["kind"] == OFF_PROCESSOR) == is_off_processor
        chosen: Records = records[is_chosen]
        return chosen

    @property
    def timeline_lacks(self) -> int:
        """The number of calls that were written and are no longer in the file."""
        size_bytes = self.timeline_path.stat().st_size if self.timeline_path.exists() else 0
        return max(0, int(self.head["timeline_records"]) - size_bytes // RECORD.itemsize)

    @property
    def timeline_path(self) -> Path:
        """The path of its timeline, which may not exist."""
        return self.path.with_suffix(".timeline")


class CommunicatorNote(msgspec.Struct):
    """A communicator as one process knows it; `others` is an intercommunicator's remote group."""

    communicator: int
    made_ns: int
    members: tuple[int, ...]
    others: tuple[int, ...] = ()
    name: str = ""
    made_ticks: int | None = None


class Module(msgspec.Struct, frozen=True):
    """A file that calls MPI, by `path`, '' for code in no file; and if Python called it, from
    where: the file, function and line of Python, else '' and 0.
    """

    path: str
    python: str = ""
    function: str = ""
    line: int = 0


class LibraryReport(msgspec.Struct, frozen=True):
    """What the MPI library said of itself on rank 0 at the end (MPI_T).

    `control` and `performance` are the numbers of its variables of either kind. `variables` are
    values of some control variables, `levels` those of performance variables that say what there
    was at that moment, by name. `version` begins its version text, which names its device.
    """

    control: int = 0
    performance: int = 0
    variables: dict[str, str] = {}
    levels: dict[str, str] = {}
    version: str = ""


class ProcessFile(msgspec.Struct):
    """A process's description of itself.

    `virtual` is the machine that it ran on in virtual time, whose ticks are picoseconds;
    `processors` are those that it may run on, none if they are unknown. `lost`
    names what it had no memory to record, `others` are MPI libraries that it has loaded besides the
    traced one, `mpi_t` is what that said of itself. `modules` are the files that call sites are in,
    by number. `launch` is equal on all
    ranks of one launch, '' if unknown, `parent` the process that started this one; it came into
    MPI_Init at `began_ns` and out at `ready_ns`. Up to version 3, `world` took their place.
    """

    path: str
    version: int
    rank: int
    size: int
    host: str
    pid: int
    library: str
    calls: list[str]
    world: int = 0
    launch: str = ""
    parent: str = ""
    began_ns: int = 0
    ready_ns: int = 0
    communicators: list[CommunicatorNote] = []
    finished: bool = False
    lost: list[str] = []
    others: str = ""
    virtual: TracedMachine | None = None
    processors: tuple[int, ...] = ()
    modules: dict[int, Module] = {}
    mpi_t: LibraryReport | None = None

    def threads(self) -> Iterator[ThreadFile]:
        """Yield the files of its threads."""
        stem = Path(self.path).with_suffix("")
        for path in sorted(stem.parent.glob(f"{escape(stem.name)}-*.counts")):
            yield ThreadFile(path)


def process_file(path: Path) -> ProcessFile | None:
    """Read a process's description of itself, without a last line that is cut off, and without the
    zeros behind it.

    None if it ended before it wrote which rank it is. Raises InputError if the file is damaged or
    of another version.
    """
    lines = path.read_bytes().split(b"\n")[:-1]
    if not lines:
        return None
    try:
        first: dict[str, Any] = msgspec.json.decode(lines[0])
        if first.get("version") not in VERSIONS:
            raise InputError(
                f"{path} has version {first.get('version')}; this nhalf reads up to {VERSIONS[-1]}",
                "collect it with the nhalf that wrote it",
            )
        process = msgspec.convert({**first, "path": str(path)}, ProcessFile)
        communicators: dict[int, CommunicatorNote] = {}
        for line in lines[1:]:
            note: dict[str, Any] = msgspec.json.decode(line)
            if "members" in note:
                communicators[note["communicator"]] = msgspec.convert(note, CommunicatorNote)
            elif "name" in note:
                communicators[note["communicator"]].name = note["name"]
            elif "finished" in note:
                process.finished = True
            elif "lost" in note:
                process.lost.append(str(note["lost"]))
            elif "module" in note:
                process.modules[int(note["module"])] = msgspec.convert(note, Module)
            elif "mpi_t" in note:
                about = {**note["mpi_t"], "version": process.library}
                process.mpi_t = msgspec.convert(about, LibraryReport)
            elif "others" in note:
                process.others = str(note["others"])
    except (KeyError, *UNREADABLE) as error:
        raise InputError(f"{path} is damaged: {error}", REMEDY) from error
    process.communicators = list(communicators.values())
    return process
