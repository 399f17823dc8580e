# SPDX-License-Identifier: Apache-2.0
"""The machine file: what is known of a parallel computer, as typed and versioned TOML."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec

from nhalf.errors import InputError, MissingError

SCHEMA = 1
"""Raised when an older reader would misread a newer file."""

Range = tuple[float, float]


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """T(n) = t0 + n/r_inf from the first to the last measured size of a range.

    Times are seconds, sizes bytes, rates bytes per second; `_ci` are 95 % intervals (low, high).
    Where time does not grow with size, the rate and n_half are infinite and absent in the file.
    """

    from_bytes: int
    to_bytes: int
    t0_s: float
    t0_ci: Range
    r_inf_Bps: float = math.inf
    r_inf_ci: Range = (0.0, math.inf)
    n_half_bytes: float = math.inf
    n_half_ci: Range = (0.0, math.inf)


class Breakpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A change between two segments, somewhere in (low_bytes, high_bytes].

    `change_percent` is by how much the time is longer (or shorter: negative) in the right segment
    at the place of the break; `kind` is "jump", or "bend" where only the rate changes.
    """

    low_bytes: int
    high_bytes: int
    at_bytes: float
    change_percent: float
    kind: str


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """Periodic steps: the time rises by `height_s` at offset + i period bytes, i = 0, 1, ..."""

    offset_bytes: int
    period_bytes: int
    height_s: float
    height_ci: Range


class FittedModel(msgspec.Struct, frozen=True, kw_only=True):
    """The segments of one pattern of one library, with their error on sizes not fitted.

    `heldout_median` and `heldout_p95` are relative absolute errors; absent where there were too
    few sizes to leave any out.
    """

    run: str = ""
    transport: str
    mpi: str = ""
    pattern: str
    algorithm: str = ""
    ranks: int
    placement: str = ""
    axes: str = ""
    segments: tuple[Segment, ...]
    breakpoints: tuple[Breakpoint, ...] = ()
    heldout_median: float | None = None
    heldout_p95: float | None = None
    heldout_sizes: int = 0
    packet_steps: Steps | None = None


class Overheads(msgspec.Struct, frozen=True, kw_only=True):
    """What messages of one size cost: o_s(m), o_r(m), g(m); None where not known."""

    size_bytes: int
    send_overhead_s: float | None = None
    recv_overhead_s: float | None = None
    gap_s: float | None = None


class LogGP(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of the LogP family for one library; None where not known.

    Seconds, `gap_per_byte_s` seconds per byte; `_ci` are 95 % intervals (low, high), None without
    any (one launch, a publication). Where `identifiable` is false, the interval of L reaches 0, and
    only `half_round_trip_s` = L + o_s + o_r should be used. L is that of LogP, without overheads;
    `parameterised_latency_s` is that of the parameterised model.
    """

    run: str = ""
    transport: str
    mpi: str = ""
    ranks: int = 2
    placement: str = ""
    launches: int = 0
    latency_s: float | None = None
    latency_ci: Range | None = None
    send_overhead_s: float | None = None
    send_overhead_ci: Range | None = None
    recv_overhead_s: float | None = None
    recv_overhead_ci: Range | None = None
    gap_s: float | None = None
    gap_ci: Range | None = None
    gap_per_byte_s: float | None = None
    gap_per_byte_ci: Range | None = None
    half_round_trip_s: float | None = None
    half_round_trip_ci: Range | None = None
    saturation_gap_s: float | None = None
    saturation_gap_ci: Range | None = None
    parameterised_latency_s: float | None = None
    parameterised_latency_ci: Range | None = None
    identifiable: bool | None = None
    sizes: tuple[Overheads, ...] = ()


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine: its models and where they come from.

    `source` says where the numbers come from (a run, a publication); `environment` are a few lines
    about the machine for a reader.
    """

    name: str
    schema: int = SCHEMA
    source: str = ""
    environment: dict[str, str] = {}
    models: tuple[FittedModel, ...] = ()
    loggp: tuple[LogGP, ...] = ()


def encode(machine: Machine) -> bytes:
    """The machine as TOML. Infinite rates are left out: absent means infinite."""
    content = _without_none(msgspec.to_builtins(machine))
    for model in content["models"]:
        for segment in model["segments"]:
            for name in ("r_inf_Bps", "n_half_bytes"):
                if not math.isfinite(segment[name]):
                    del segment[name]
    # The version comes first: it is the first thing that a reader has to know.
    return msgspec.toml.encode({"schema": content.pop("schema"), **content})


def write(machine: Machine, path: Path) -> None:
    """Write the file whole or not at all; raises MissingError where it cannot be written."""
    from nhalf.store.run import write_atomically

    path = Path(path)
    try:
        write_atomically(path, encode(machine))
    except OSError as error:
        reason = error.strerror or str(error)
        raise MissingError(
            f"cannot write the machine file {path}: {reason}", "choose another place with --out"
        ) from None


def read(path: Path) -> Machine:
    """The machine in a file; raises InputError when it is none, damaged or of another version."""
    path = Path(path)
    try:
        content = msgspec.toml.decode(path.read_bytes())
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot read the machine file {path}: {reason}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _damaged(path, str(error)) from None
    version = content.get("schema")
    if not isinstance(version, int) or isinstance(version, bool):
        raise _damaged(path, "it has no schema version")
    if version != SCHEMA:
        raise InputError(
            f"{path} has schema version {version}, this nhalf reads version {SCHEMA}",
            "fit the run again, or use the nhalf that wrote the file",
        )
    try:
        return msgspec.convert(content, Machine)
    except msgspec.ValidationError as error:
        raise _damaged(path, str(error)) from None


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(
        f"{path} is not a machine file: {reason}", "write it again with nhalf fit RUN --out FILE"
    )


def _without_none(value: Any) -> Any:
    """The same without entries that are None: TOML has no null."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value
