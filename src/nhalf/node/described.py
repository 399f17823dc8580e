# SPDX-License-Identifier: Apache-2.0
"""The processor that bounds are asked for: one of record, a file, or the one here as measured."""

from __future__ import annotations

import platform
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.folders import data_folder
from nhalf.machines.processor import Processor
from nhalf.machines.processor_file import processor, read

HERE = "here"


def path_of_here() -> Path:
    """Where the description of this host's processor is kept when it was measured."""
    return data_folder() / "processors" / f"{platform.node() or 'localhost'}.toml"


def described(name: str) -> Processor:
    """The processor `here` as it was measured last, one of record, or the one in a file.

    Raises MissingError if this one was not measured, InputError for an unknown name.
    """
    if name != HERE:
        return processor(name)
    path = path_of_here()
    if not path.is_file():
        raise MissingError("the processor here was not measured", "measure it with `nhalf node`")
    return read(path)
