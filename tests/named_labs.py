"""Names for the labs of tests, by which those are known whose tests were killed."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

from nhalf.sites.lab import build, layout

NUMBERS = itertools.count(1)
NAME = re.compile(r"test-(\d+)-\d+")


def unused_lab_name() -> str:
    """A name that no other test has."""
    return f"test-{os.getpid()}-{next(NUMBERS)}"


def remove_labs_of_killed_tests() -> None:
    """Remove every lab of a test whose process is gone."""
    for name in layout.names():
        match = NAME.fullmatch(name)
        if match is not None and not Path("/proc", match[1]).exists():
            build.remove_named(name)
