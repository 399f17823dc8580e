# SPDX-License-Identifier: Apache-2.0
"""Bytes and microseconds, as a program of one's own printed them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from nhalf.base.rows import Row
from nhalf.exchange.styles import Style, microseconds


class Bare(Style):
    benchmarks: ClassVar[dict[str, str]] = {"pp": "pingpong", "bc": "bcast"}

    def opening(self, library: str) -> Iterator[str]:
        yield f"{library}:"

    def table(self, benchmark: str, rows: list[Row]) -> Iterator[str]:
        for row in rows:
            yield f"{benchmark} {row['bytes']} {microseconds(row['median_s']):.3f}"
