# SPDX-License-Identifier: Apache-2.0
"""Descriptions of processors as TOML: records, and files of users and of `nhalf node`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.base.files import write_bytes
from nhalf.base.typed_toml import read_toml, typed
from nhalf.machines.processor import SCHEMA, Cache, Operation, Processor, Unit

FOLDER = Path(__file__).parent / "processors"
TABLES: dict[str, type[msgspec.Struct]] = {
    "operations": Operation,
    "units": Unit,
    "caches": Cache,
}


def names() -> list[str]:
    """The names of the processors of record."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def processor(name: str | Path) -> Processor:
    """A processor of record by its name, else the processor in a file.

    Raises InputError for an unknown name, and for a file that describes no processor.
    """
    text = str(name)
    if text in names():
        return read(FOLDER / f"{text}.toml")
    if not Path(name).suffix and not Path(name).is_file():
        raise unknown("processor", text, names())
    return read(Path(name))


def read(path: Path) -> Processor:
    """Read the processor in a file; raises InputError if there is none, or it is damaged."""
    content = read_toml(path)
    version = content.get("schema")
    if version != SCHEMA or isinstance(version, bool):
        version_text = "no schema version" if version is None else f"schema version {version}"
        raise InputError(f"{path} has {version_text}, this nhalf reads version {SCHEMA}")
    return typed(path, content, Processor, TABLES)


def write(processor: Processor, path: Path) -> None:
    """Write the file whole or not at all; raises MissingError if it cannot be written."""
    write_bytes(path, encode(processor))


def encode(processor: Processor) -> bytes:
    """The processor as TOML, its version first, without unknown values."""
    content = _without_none(msgspec.to_builtins(processor))
    return msgspec.toml.encode({"schema": content.pop("schema"), **content})


def _without_none(value: Any) -> Any:
    """A copy of a value without entries that are None: TOML has no null."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value
