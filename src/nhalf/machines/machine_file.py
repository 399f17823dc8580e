"""Machine files: a machine as TOML, written atomically, with errors that name their place."""

import math
from pathlib import Path

import msgspec

from nhalf.base.errors import InputError
from nhalf.base.files import write_bytes
from nhalf.base.typed_toml import toml_of
from nhalf.base.unreadable import UNREADABLE, check_keys
from nhalf.machines.from_tables import with_tables
from nhalf.machines.machine import SCHEMA, Machine
from nhalf.models.terms import check_terms


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
        raise InputError(
            f"{path} is a folder, not a machine file",
            f"if it is a run, `nhalf fit {path}` writes {path / 'machine.toml'}",
        )
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
        raise InputError(
            f"{path} has schema version {version}, this nhalf reads version {SCHEMA}",
            "fit the run again, or use the nhalf that wrote the file",
        )
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
