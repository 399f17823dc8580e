"""The calls and messages of a traced program for Vampir, Scalasca and other OTF2 readers."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import ClassVar

from nhalf.base.errors import InputError, MissingError
from nhalf.exchange.exporters import Exporter, Subject, the_program
from nhalf.exchange.program.otf2_archive import write_archive


class Otf2(Exporter):
    """An archive of OTF2: a folder of files."""

    description: ClassVar[str] = (
        "a traced program's calls and messages as an OTF2 archive, for Vampir"
    )
    is_folder: ClassVar[bool] = True

    def text(self, subject: Subject) -> str:
        """Raises InputError: an archive has no text."""
        raise InputError("an OTF2 archive is a folder of files", "name it with --out")

    def write(self, subject: Subject, out: Path) -> None:
        """Write the archive; raises MissingError without OTF2's library."""
        program = the_program(subject, "otf2")
        try:
            library = import_module("otf2")
        except ImportError as error:
            raise MissingError(
                "OTF2's own library writes its archives, and Python has no module otf2",
                "install it: pip install otf2, or Debian's python3-otf2",
            ) from error
        write_archive(library, program, out)
