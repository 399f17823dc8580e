"""Hand-written TOML in typed form; every error names the file and the key."""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from nhalf.base.errors import InputError
from nhalf.base.unreadable import UNREADABLE, check_keys

ALSO_CALLED = {
    "at_most": ("max", "maximum", "upper", "limit", "below", "less_than", "high"),
    "at_least": ("min", "minimum", "lower", "above", "more_than", "low"),
    "bytes": ("size", "sizes", "message_size", "size_bytes"),
    "mpi": ("library", "libraries"),
    "pattern": ("benchmark", "test", "operation"),
    "patterns": ("pattern", "benchmarks", "tests"),
    "ranks": ("np", "nprocs", "processes"),
}
"""Usual words for keys, by the key."""

Form = TypeVar("Form", bound=msgspec.Struct)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a file; raises InputError if it cannot be read or is not TOML."""
    try:
        text = path.read_bytes()
        check_keys(text)
        content: dict[str, Any] = msgspec.toml.decode(text)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except UNREADABLE as error:
        raise InputError(f"{path} is not TOML: {error}", "see the page on files") from error
    return content


def typed(
    path: Path,
    content: Mapping[str, Any],
    form: type[Form],
    tables: Mapping[str, type[msgspec.Struct]],
) -> Form:
    """The content as a typed struct; `tables` are the types of its lists of tables, by key.

    Raises InputError for an unknown key, naming the closest known one, and for a wrong value.
    """
    _check_keys(path, "", content, form)
    for key, inner in tables.items():
        listed = content.get(key, [])
        for place, table in enumerate(listed if isinstance(listed, list) else []):
            if isinstance(table, Mapping):
                _check_keys(path, f"{key}[{place}].", table, inner)
    try:
        return msgspec.convert(content, form)
    except msgspec.ValidationError as error:
        message, _, location = str(error).partition(" - at `$.")
        where = f"{location.rstrip('`')}: " if location else ""
        raise InputError(f"{path}: {where}{message}") from error


def _check_keys(
    path: Path, place: str, content: Mapping[str, Any], form: type[msgspec.Struct]
) -> None:
    for key in content:
        if key not in form.__struct_fields__:
            remedy = _remedy(key, form.__struct_fields__)
            raise InputError(f"{path}: {place}{key}: unknown key {key!r}", remedy)


def _remedy(key: str, keys: Sequence[str]) -> str:
    """The key that is meant, if that is clear, else all of them."""
    synonyms = [ours for ours, theirs in ALSO_CALLED.items() if ours in keys and key in theirs]
    close = synonyms or difflib.get_close_matches(key, keys, n=1, cutoff=0.7)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(sorted(keys))}"


def toml_of(content: dict[str, Any]) -> bytes:
    """Encode a table, its schema version first, without entries that are None: TOML has no null."""
    filled = _without_none(content)
    return msgspec.toml.encode({"schema": filled.pop("schema"), **filled})


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list | tuple) else value
