"""Options of a transport, as users write them and as its probe describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nhalf.base.errors import InputError, unknown


def check_options(text: str, described: Sequence[dict[str, Any]]) -> None:
    """Check 'o_s=1e-6,L=5e-6' against what a probe describes.

    Raises InputError for an unknown name or a value that is not a number from 0 up.
    """
    names = [option["name"] for option in described]
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{part!r} is not written as name=value", "write o_s=1e-6,L=5e-6")
        if name not in names:
            raise unknown("option", name, names)
        try:
            wrong = not 0 <= float(value) < float("inf")
        except ValueError:
            wrong = True
        if wrong:
            raise InputError(f"{name}={value} is not a number from 0 up", "write 1e-6 or 0.05")
