"""NetPIPE: its screen output, and its file np.out.

A time is half a round trip. The screen shows `0:  1 bytes 999 times --> 4.58 Mbps in 1.67 usec`
(3.x, megabits of 2^20 or 10^6 bits) or `1:  1 B 999 times --> 4.58 Mbps in 1.67 usecs` (4.x and
5.x, with units that change from row to row, sizes decimal and rounded from 1 MB on: sizes that
are printed equal become samples of one point). np.out has bytes, one to three rates and a time:
seconds beside megabits (3.x), microseconds beside gigabits (5.x); a row
counts only if its rate and its time agree. Rates themselves are not used.
"""

import math
import re

import msgspec

from nhalf.exchange.importers import Imported, Importer
from nhalf.exchange.logs.part import LogPart, is_row, is_time

_BYTES = {"bytes": 1, "byte": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9}
_PER_SECOND = {"nsecs": 1e9, "usecs": 1e6, "usec": 1e6, "msecs": 1e3, "secs": 1.0, "sec": 1.0}
_MODULE = re.compile(r"\bNP([a-z]{2,10}\d?)\b")
_TCP = "Send and receive buffers are"
_UNITS = ((1e6, 1.0), (1e9, 1e6))
"""Bits per second of a rate's unit, and units of time per second: 3.x and 5.x."""
_DIGITS_S = 9.5e-6
"""Shorter times have one digit where they are printed in seconds."""
_AGREE = 0.06
"""Largest relative difference of rate and time: megabits of 2^20 bits, and few digits."""


class NetPipe(Importer):
    """Recognises the screen's lines by their arrow; np.out has only numbers."""

    description = "NetPIPE 2.4 to 5.x (screen and np.out)"
    marks = (
        " times -->",
        "Now starting the main loop",
        "Now starting main loop",
        "Clock resolution ~",
    )
    head = r"Now starting|Clock resolution ~|Send and receive buffers are"
    headless = True

    def read(self, part: LogPart) -> list[Imported]:
        """Every valid row; a screen that starts again is another table."""
        points: dict[tuple[int, int], Imported] = {}
        screen = any(" times -->" in line for line in part.lines)
        table, transport = 0, "mpi"
        for place, line in enumerate(part.lines):
            if "NP" in line or _TCP in line:
                transport = _transport(line) or transport
            is_begin = "Now starting" in line or "Clock resolution" in line
            if is_begin or (screen and line.split(":")[0].strip() == "0"):
                table += 1
            if not (" times -->" in line if screen else is_row(line)):
                continue
            read = _screen(line, part) if screen else _file(line, part)
            if read is None:
                part.pass_over(place)
                continue
            size_bytes, time_s, verified = read
            earlier = points.get((table, size_bytes))
            point = Imported(
                pattern="pingpong",
                size_bytes=size_bytes,
                samples_s=(*(earlier.samples_s if earlier else ()), time_s),
                ranks=2,
                bytes_per_time=size_bytes,
                table=table,
                transport=transport,
                verified=verified,
            )
            points[table, size_bytes] = point
        return [msgspec.structs.replace(point, transport=transport) for point in points.values()]


def _transport(line: str) -> str:
    """The module named on the screen or in the command line; '' if there is none."""
    if _TCP in line:
        return "tcp"
    match = _MODULE.search(line[:500])
    return match[1].removesuffix("2") if match else ""


def _screen(line: str, part: LogPart) -> tuple[int, float, bool] | None:
    """Bytes, seconds and whether the data were correct, from a line of the screen."""
    head, _, tail = line.partition(" times -->")
    sizes, results = head.rpartition(":")[2].split(), tail.split()
    if len(sizes) != 3 or "in" not in results:
        return None
    place = results.index("in")
    if place != 2 or len(results) < 5:
        return None
    factor, per_second = _BYTES.get(sizes[1].lower()), _PER_SECOND.get(results[4])
    if factor is None or per_second is None:
        return None
    size = part.number(sizes[0]) * factor
    size_bytes = part.size(f"{size:.0f}") if math.isfinite(size) and size >= 0 else -1
    time_s = part.number(results[3]) / per_second
    if results[4] == "sec" and time_s < _DIGITS_S:
        # A time of one digit: the rate, in megabits of 2^20 bits, is more exact.
        time_s = 8 * size_bytes / (part.number(results[0]) * 2**20) if size_bytes > 0 else 0.0
    if size_bytes < 0 or not is_time(time_s):
        return None
    wrong = "integrity problems" in tail or "failures" in results
    return size_bytes, time_s, not wrong


def _file(line: str, part: LogPart) -> tuple[int, float, bool] | None:
    """Bytes and seconds of a line of np.out; None if its rate and its time disagree."""
    tokens = line.split()
    if not 3 <= len(tokens) <= 5:
        return None
    size_bytes = part.size(tokens[0])
    rate, time = part.number(tokens[1]), part.number(tokens[-1])
    if size_bytes < 1 or not (rate >= 0 and time > 0):
        return None
    for unit_bps, per_second in _UNITS:
        time_s = time / per_second
        if not is_time(time_s):
            continue
        expected = 8 * size_bytes / time_s / unit_bps
        digits = 5e-4 if unit_bps > 1e6 else 5e-7
        # A time with two digits is as uncertain as a rate with three.
        uncertain = 5e-3 / time if per_second > 1 else 5e-9 / time_s
        if abs(rate - expected) <= (_AGREE + min(uncertain, 0.5)) * expected + digits:
            return size_bytes, time_s, True
    return None
