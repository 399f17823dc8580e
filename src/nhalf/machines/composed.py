# SPDX-License-Identifier: Apache-2.0
"""Times of algorithms on a machine, composed from its parts message by message.

A program (native/composer) runs the unchanged algorithm on ranks whose messages carry no data: a
message takes T; those that one rank sends, or receives, are M / q and R / q apart. That is LogGP
(Alexandrov et al., SPAA 1995) with measured curves instead of lines.
"""

from __future__ import annotations

import subprocess
import weakref
from collections.abc import Iterator
from typing import IO

import numpy as np

from nhalf.base.native_files import executable
from nhalf.machines.curve import segment_starts
from nhalf.machines.parts import Parts
from nhalf.models.expression import PART_BYTES

RANKS_MAX = 512
"""With more ranks, an algorithm in which all send to all has too many messages to follow."""
SPACINGS = {"sends_apart": "M", "receives_apart": "R"}


class Composer:
    """Times of algorithms on one machine; raises MissingError if the program was not built."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.ranks = 0
        self.times_s: dict[tuple[str, str, int, int, int], float | None] = {}
        self.program = subprocess.Popen(
            [str(executable("compose"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._end = weakref.finalize(self, _close, self.program)

    def time_s(
        self,
        operation: str,
        algorithm: str,
        ranks: int,
        size_bytes: int,
        part_bytes: int = PART_BYTES,
    ) -> float | None:
        """Seconds of an algorithm; None if it is unknown, or with too many ranks.

        Only algorithms that cut messages are known with other parts than those of PART_BYTES.
        """
        # A larger part holds the whole message, too.
        part_bytes = min(part_bytes, max(size_bytes, PART_BYTES))
        key = (operation, algorithm, ranks, size_bytes, part_bytes)
        if ranks > RANKS_MAX:
            return None
        if key not in self.times_s:
            self.times_s[key] = self._composed_s(*key)
        return self.times_s[key]

    def _composed_s(
        self, operation: str, algorithm: str, ranks: int, size_bytes: int, part_bytes: int
    ) -> float | None:
        lines = [] if ranks == self.ranks else ["parts", *_lines(self.parts, ranks)]
        if not all(map(_is_finite, lines)):
            return None
        self.ranks = ranks
        lines.append(f"compose {operation} {algorithm} {ranks} {size_bytes} {part_bytes}")
        to, back = _pipes(self.program)
        to.write("\n".join(lines) + "\n")
        to.flush()
        answer = back.readline().strip()
        return None if answer in ("", "-") else float(answer)


def _lines(parts: Parts, ranks: int) -> Iterator[str]:
    """The parts in the program's protocol, spacings for fans among this many ranks."""
    assert parts.overheads_s is not None
    yield f"o_s {parts.overheads_s[0]!r}"
    yield f"o_r {parts.overheads_s[1]!r}"
    for first, line in zip(segment_starts(parts.curve), parts.curve.segments, strict=True):
        yield f"message {first} {line.t0_s!r} {1 / line.r_inf_Bps!r} {line.root_s!r}"
    partners = min(max(1, ranks - 1), parts.partners_max or ranks)
    low = np.array(parts.bends_bytes)
    high = np.append(low[1:], max(2 * low[-1], 2.0**20))
    # The upper end of a piece belongs to the next one.
    inside = low + 0.5 * (high - low)
    for name, part in SPACINGS.items():
        time_s = parts.functions[part]
        at_low, at_inside = (time_s(size, partners) / partners for size in (low, inside))
        per_byte_s = (at_inside - at_low) / (inside - low)
        start_s = at_low - per_byte_s * low
        for row in zip(low, start_s, per_byte_s, strict=True):
            yield f"{name} " + " ".join(repr(float(value)) for value in row) + " 0"


def _is_finite(line: str) -> bool:
    """Whether a part has no number beyond all bounds, such as the time of a byte at a rate of 0."""
    return not {"inf", "-inf", "nan"}.intersection(line.split())


def _pipes(program: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert program.stdin is not None
    assert program.stdout is not None
    return program.stdin, program.stdout


def _close(program: subprocess.Popen[str]) -> None:
    for pipe in _pipes(program):
        pipe.close()
    program.wait()
