# SPDX-License-Identifier: Apache-2.0
"""Logs of a program of one's own: a title, then bytes and seconds of a round trip."""

from __future__ import annotations

from nhalf.exchange.importers import Imported, Importer
from nhalf.exchange.logs.part import LogPart, is_row, is_time


class TwoColumns(Importer):
    """Reads `# my ping-pong` and the rows below it."""

    description = "my ping-pong"
    marks = ("# my ping-pong",)

    def read(self, part: LogPart) -> list[Imported]:
        """Half a round trip is the time of a message."""
        found: list[Imported] = []
        table = 0
        for place, line in enumerate(part.lines):
            table += self.recognises(line)
            if not is_row(line):
                continue
            size_bytes, time_s = (*map(part.number, line.split()), -1.0, -1.0)[:2]
            if size_bytes < 0 or not is_time(time_s / 2):
                part.pass_over(place)
                continue
            size = int(size_bytes)
            found.append(Imported("pingpong", size, (time_s / 2,), 2, size, table))
        return found
