"""Descriptions of processors as TOML: records, and files of users and of `nhalf node`."""

from pathlib import Path
from typing import Any

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.base.files import write_bytes
from nhalf.base.typed_toml import read_toml, toml_of, typed
from nhalf.machines.processor import SCHEMA, Cache, Processor, ProcessorOperation, Unit

FOLDER = Path(__file__).parent / "processors"
TABLES: dict[str, type[msgspec.Struct]] = {
    "operations": ProcessorOperation,
    "units": Unit,
    "caches": Cache,
}

FORMER_NAMES = {
    "window_instructions": "reorder_buffer_instructions",
    "waiting_instructions": "scheduler_instructions",
    "joined_pairs": "fused_pairs",
    "whole_load": "integer_load",
    "whole_store": "integer_store",
    "whole_move": "integer_move",
    "store_apart": "line_change_store",
}
"""Keys, operations and pairs by the names that they have in files of earlier versions."""


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
    return typed(path, _with_present_names(path, content), Processor, TABLES)


def _with_present_names(path: Path, content: dict[str, Any]) -> dict[str, Any]:
    """The content with former names replaced; raises InputError if a key has both its names."""
    for former, present in FORMER_NAMES.items():
        if former in content and present in content:
            raise InputError(
                f"{path}: {former} is a former name of {present}", "remove one of them"
            )
    renamed = {FORMER_NAMES.get(key, key): value for key, value in content.items()}
    for operation in _tables(renamed, "operations"):
        if isinstance(operation.get("name"), str):
            operation["name"] = _present_key(operation["name"])
    for unit in _tables(renamed, "units"):
        if isinstance(unit.get("cycles"), dict):
            unit["cycles"] = {_present_key(key): value for key, value in unit["cycles"].items()}
    pairs = renamed.get("fused_pairs")
    if isinstance(pairs, list):
        renamed["fused_pairs"] = [FORMER_NAMES.get(str(pair), pair) for pair in pairs]
    return renamed


def _tables(content: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The tables of a list, without entries that are none: `typed` refuses these."""
    tables = content.get(key)
    tables = tables if isinstance(tables, list) else []
    return [table for table in tables if isinstance(table, dict)]


def _present_key(key: str) -> str:
    """The present name of an operation, with its lanes if it has any."""
    name, dot, lanes = key.partition(".")
    return f"{FORMER_NAMES.get(name, name)}{dot}{lanes}"


def write(processor: Processor, path: Path) -> None:
    """Write the file whole or not at all; raises MissingError if it cannot be written."""
    write_bytes(path, encode(processor))


def encode(processor: Processor) -> bytes:
    """The processor as TOML, its version first, without unknown values."""
    return toml_of(msgspec.to_builtins(processor))
