"""By which path UCX moves messages of each size: what it prints itself, and what that means.

With UCX_PROTO_INFO=y UCX prints a table for each kind of operation and memory that it begins to
use: a range of sizes, the protocol, and over what (source: openucx/ucx#7950, which brought it).
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from nhalf.base.units import format_size

VARIABLE = {"UCX_PROTO_INFO": "y"}
IPC, STAGED, DIRECT, UNNAMED = "ipc", "staged", "direct", "unnamed"
WORDS = {
    IPC: "from GPU to GPU by memory that the driver shares (IPC)",
    STAGED: "through memory of the host",
    DIRECT: "straight from the GPU's memory by the network",
    UNNAMED: "by a protocol of another kind",
}
_TITLE = re.compile(r"\|[^|]{1,80}\|\s*tagged message by [^|]{1,60} from (\w{1,20})[^|]{0,60}\|")
_ROW = re.compile(r"\|\s*(\d{1,12}[KMGT]?)(?:\.\.(inf|\d{1,12}[KMGT]?))?\s*\|([^|]+)\|([^|]+)\|")
_SCALES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class UcxPath(msgspec.Struct, frozen=True, kw_only=True):
    """How UCX moves messages from `low_bytes` to `high_bytes` (None: all above) out of `memory`."""

    memory: str
    low_bytes: int
    high_bytes: int | None
    protocol: str
    lanes: str

    @property
    def kind(self) -> str:
        """IPC, STAGED, DIRECT, or UNNAMED where the words of UCX do not tell."""
        words = f"{self.protocol} {self.lanes}"
        if "_ipc" in words:
            return IPC
        if re.search(r"frag host|copy-in|cuda_copy|short|pipeline", words):
            return STAGED
        return DIRECT if "zero-copy" in words else UNNAMED

    @property
    def sizes(self) -> str:
        """Such as '8.1 KiB and more'."""
        if self.high_bytes is None:
            return f"{format_size(self.low_bytes)} and more"
        return f"{format_size(self.low_bytes)} to {format_size(self.high_bytes)}"


def paths(lines: Iterable[str]) -> list[UcxPath]:
    """The paths of messages out of a GPU's memory in lines that UCX printed, each once, by size."""
    distinct = set(_paths(lines))
    return sorted(distinct, key=lambda path: (path.memory, path.low_bytes, path.protocol))


def _paths(lines: Iterable[str]) -> Iterator[UcxPath]:
    memory = ""
    for line in lines:
        if title := _TITLE.search(line):
            memory = title[1]
        elif row := _ROW.search(line):
            if memory not in ("", "host"):
                low, high, protocol, lanes = row.groups()
                yield UcxPath(
                    memory=memory,
                    low_bytes=_size(low),
                    high_bytes=None if high == "inf" else _size(high or low),
                    protocol=protocol.strip().removeprefix("(?) "),
                    lanes=lanes.strip(),
                )
        elif "|" in line and not line.rstrip().endswith("+"):
            memory = ""  # the title of another table


def _size(text: str) -> int:
    return int(text.rstrip("KMGT")) * _SCALES.get(text[-1], 1)
