"""Sizes, times and rates as people write and read them.

Inside the program times are seconds, sizes bytes and rates bytes per second; only this file turns
them into text and parses them.
"""

import math
import re

from nhalf.base.errors import InputError
from nhalf.base.numbers import MISSING, format_number

_BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"(\d+)\s*([KMGTkmgt]?)(?:[Ii]?B)?")
_BITS = re.compile(r"(\d+\s*[KMGTkmgt]?)[Ii]?b")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)?")
_DURATION_S = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
SIZE_BYTES_MAX = 2**40
SIZE_ENDLESS = 2.0**62
"""A size that is larger stands for 'without end'."""
_SIZE_UNITS = [(f"{letter}iB", 2 ** (60 - 10 * place)) for place, letter in enumerate("EPTGMK")]
TIME_LEAST_S = 1e-13
"""A shorter time is none that a clock can tell from 0."""
_NUMBER = r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_TIME = re.compile(_NUMBER + r"\s*(ns|us|µs|μs|ms|s)")
_TIME_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0}
_RATE = re.compile(_NUMBER + r"\s*([kKMGT]?)(i?)(B|bit)/s")
_DECIMAL = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
MINUTE_S, HOUR_S = 60.0, 3600.0
DAY_HOURS = 24
_SHARE = re.compile(_NUMBER + r"\s*(%?)")


def number_in(text: str) -> float:
    """The number that a text is, which may be infinite; NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def parse_size(text: str) -> int:
    """Bytes from '4096', '4K', '4KiB' or '4M' (binary multiples; 1 TiB at most).

    Raises InputError if the text is not a size. '4Mb' is refused: b stands for bits.
    """
    match = _SIZE.fullmatch(text.strip())
    if bits := _BITS.fullmatch(text.strip()):
        raise InputError(f"{text!r} is a number of bits", f"write bytes as {bits[1]}B")
    if match is None:
        raise InputError(f"{text!r} is not a size", "write bytes as 0, 512, 4K or 4M")
    size_bytes = int(match[1]) * _BINARY[match[2].upper()]
    if size_bytes > SIZE_BYTES_MAX:
        raise InputError(f"size {text!r} is too large", "1T is the largest")
    return size_bytes


def parse_duration(text: str) -> float:
    """Seconds from '60', '60s', '500ms', '2m' or '1h'.

    Raises InputError if the text is not a positive duration.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise InputError(f"{text!r} is not a duration", "write 500ms, 60s, 2m or 1h")
    return float(match[1]) * _DURATION_S[match[2] or "s"]


def parse_time(text: str) -> float:
    """Seconds from '250ns', '3us', '3.2 µs', '1.5 ms' or '2 s'; the unit is needed.

    Raises InputError if the text is not a positive time.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None or not 0 < float(match[1]) < math.inf:
        raise InputError(f"{text!r} is not a time", "write 250ns, 3us, 1.5 ms or 2 s")
    return float(match[1]) * _TIME_S[match[2]]


def parse_rate(text: str) -> float:
    """Bytes per second from '1.2 GB/s', '117 MiB/s' or '950 Mbit/s'; the unit is needed.

    Raises InputError if the text is not a positive rate. 'Gb/s' and 'Gbps' are refused: whether
    bits or bytes are meant is a factor of eight.
    """
    match = _RATE.fullmatch(text.strip())
    if match is None or not 0 < float(match[1]) < math.inf:
        raise InputError(f"{text!r} is not a rate", "write 1.2 GB/s, 117 MiB/s or 950 Mbit/s")
    factor = (_BINARY if match[3] else _DECIMAL)[match[2].upper()]
    return float(match[1]) * factor / (8 if match[4] == "bit" else 1)


def parse_share(text: str) -> float:
    """A fraction from '10%' or '0.1'; raises InputError if the text is neither.

    '3.5' is refused: it may be meant as a percentage.
    """
    match = _SHARE.fullmatch(text.strip())
    if match and not match[2] and 1 <= float(match[1]) < math.inf:
        raise InputError(f"{text!r} has no %", f"write {match[1]}%, or a fraction such as 0.1")
    share = float(match[1]) / (100 if match[2] else 1) if match else math.inf
    if not math.isfinite(share):
        raise InputError(f"{text!r} is not a share", "write 10% or 0.1")
    return share


def format_size(size_bytes: float) -> str:
    """'4 KiB' if the size is an integer multiple, otherwise '4100 B' or '1.5 MiB'."""
    if not abs(size_bytes) < SIZE_ENDLESS:
        return MISSING
    if size_bytes < 0:
        return f"-{format_size(-size_bytes)}"
    for suffix, factor in _SIZE_UNITS:
        if size_bytes >= factor and (size_bytes % factor == 0 or size_bytes >= 16 * factor):
            value = size_bytes / factor
            return f"{value:.0f} {suffix}" if value >= 99.5 else f"{format_number(value)} {suffix}"
    return f"{size_bytes:.0f} B"


def format_time(time_s: float) -> str:
    """'217 ns', '1.25 µs', '3.4 ms' or '2 s': three significant digits at most."""
    magnitude = abs(time_s)
    if not math.isfinite(time_s):
        return MISSING
    for factor, suffix in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if magnitude >= factor * 0.9995:
            return f"{format_number(time_s / factor)} {suffix}"
    return f"{format_number(time_s * 1e9)} ns" if magnitude >= TIME_LEAST_S else "0 ns"


def format_duration(time_s: float) -> str:
    """'40 s', '9 min', '2 h 15 min' or '3.5 days': how long somebody waits."""
    if not math.isfinite(time_s) or time_s < 1:
        return format_time(time_s)
    if time_s < MINUTE_S - 0.5:
        return format_time(round(time_s))
    minutes = round(time_s / MINUTE_S)
    hours, minutes_past = divmod(minutes, 60)
    if hours == 0:
        return f"{minutes} min"
    if hours > DAY_HOURS:
        return f"{format_number(time_s / (DAY_HOURS * HOUR_S), 2)} days"
    return f"{hours} h {minutes_past} min" if minutes_past else f"{hours} h"


def format_rate(rate_Bps: float) -> str:
    """'12.3 GB/s' or '117 MB/s' (decimal multiples, as in the literature); '–' if it is none."""
    if rate_Bps == 0:
        return "0 B/s"
    if not 0 < rate_Bps < math.inf:
        return MISSING
    for factor, suffix in ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")):
        if rate_Bps >= factor * 0.9995:
            return f"{format_number(rate_Bps / factor)} {suffix}"
    return f"{format_number(rate_Bps)} B/s"
