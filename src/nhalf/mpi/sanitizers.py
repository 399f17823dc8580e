"""Preloading into programs with sanitizers.

The runtime of AddressSanitizer refuses to run behind a preloaded library. Those of nhalf define
nothing that it has to define first, and which programs a launcher or a script starts is not known
before, so it is told not to look.
"""

from __future__ import annotations

from collections.abc import Mapping

VARIABLE = "ASAN_OPTIONS"
RUNTIMES = (b"libasan.so", b"libclang_rt.asan")
_BEHIND = "verify_asan_link_order=0"


def sanitizer_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables with which sanitized programs take preloaded libraries.

    What the environment says already comes last and counts.
    """
    return {VARIABLE: ":".join(filter(None, [_BEHIND, environment.get(VARIABLE, "")]))}


def has_runtime(content: bytes) -> bool:
    """Whether a program's file names a runtime that would refuse."""
    return any(name in content for name in RUNTIMES)
