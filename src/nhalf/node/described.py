"""The processor that bounds are computed for: published, from a file, or this host as measured."""

import platform
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.folders import data_folder, make_folder
from nhalf.machines.processor import Processor
from nhalf.machines.processor_file import processor, read, write

HERE = "here"


def path_of_here() -> Path:
    """The path of the description of this host's processor as measured.

    Raises MissingError if somebody else could have written there.
    """
    return data_folder() / "processors" / f"{platform.node() or 'localhost'}.toml"


def is_here(hosts: Collection[str]) -> bool:
    """Whether all hosts are this one, and its processor was measured."""
    with suppress(MissingError):
        return set(hosts) == {platform.node()} and path_of_here().is_file()
    return False


def keep_here(measured: Processor) -> None:
    """Keep the description of this host's processor. Raises MissingError."""
    path = path_of_here()
    try:
        make_folder(path.parent)
    except OSError as error:
        message = f"cannot make {path.parent}: {error.strerror or error}"
        raise MissingError(message, "set XDG_DATA_HOME to a folder that can be written") from error
    write(measured, path)


def described(name: str) -> Processor:
    """The processor `here` as it was measured last, a published one, or the one in a file.

    Raises MissingError if this one was not measured, InputError for an unknown name.
    """
    if name != HERE:
        return processor(name)
    path = path_of_here()
    if not path.is_file():
        raise MissingError("the processor here was not measured", "measure it with `nhalf node`")
    return read(path)
