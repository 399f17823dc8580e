"""Headings that name the library of a table and the test, as Spack does: mpich@4.1%gcc osu_bw."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SPEC = re.compile(
    r"\s*((openmpi|mpich|mvapich2?|intel-oneapi-mpi|intel-mpi|cray-mpich|hpcx)@(\d[\w.]{0,20})"
    r"\S{0,200})\s+osu_\w+\s*$"
)


@dataclass(frozen=True)
class Heading:
    """The library in nhalf's words, and the whole specification, with how it was built."""

    mpi: str
    spec: str


def heading_of(line: str) -> Heading | None:
    """The heading in a line; None if it is none."""
    match = _SPEC.match(line[:400]) if "@" in line else None
    if match is None:
        return None
    name = "intel" if match[2].startswith("intel") else match[2]
    return Heading(f"{name}-{match[3].rstrip('.')}", match[1])
