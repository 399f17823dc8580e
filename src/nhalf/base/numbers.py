"""Numbers as people read them: no more digits than they are good for, and none that misleads.

Ratios, shares, changes and intervals become text here, and nowhere else; times, sizes and rates
with their units in units.py.
"""

import math
from collections.abc import Callable

DIGITS = 3
"""Significant digits of a measured number."""
LEAST, MOST = 1e-4, 1e7
"""A number beyond these is written with a power of ten."""
WIDEST = 100.0
"""Ratio of the ends above which an interval is not printed."""
SHARE_MOST = 10.0
"""From this share on, percent say no more."""
ROUNDING = 1e-9
"""A share below is the rounding of numbers."""
MISSING, UNKNOWN = "–", "unknown"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_number(value: float, digits: int = DIGITS) -> str:
    """'217', '1.25', '0.0034' or '1.2·10⁹': significant digits, without trailing zeros.

    '–' if it is not finite.
    """
    if not math.isfinite(value):
        return MISSING
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0:
        return "0"
    exponent = math.floor(math.log10(abs(rounded)))
    if not LEAST <= abs(rounded) < MOST:
        mantissa = f"{value:.{digits - 1}e}".partition("e")[0]
        return f"{_trimmed(mantissa)}·10{superscript(exponent)}"
    return _trimmed(f"{rounded:.{max(0, digits - 1 - exponent)}f}")


def fixed(value: float, places: int) -> str:
    """'2.50': a number below 1000 with these decimals, so that a column lines up."""
    is_short = math.isfinite(value) and abs(value) < 999.5
    return f"{value:.{places}f}" if is_short else format_number(value)


def whole(value: float) -> str:
    """'12345': a number without decimals, a long one with a power of ten."""
    return f"{value:.0f}" if abs(value) < MOST else format_number(value)


def superscript(number: int) -> str:
    """'¹⁰' for 10: the mark of a footnote, or an exponent."""
    return str(number).translate(_SUPERSCRIPTS)


def times(value: float) -> str:
    """Format a ratio: '12x', '6.9x', '1.08x'; 'unknown' if it is none."""
    if not (math.isfinite(value) and value > 0):
        return UNKNOWN
    if value >= 999.5:
        return f"{format_number(value)}x"
    if value < 0.095:
        return f"{format_number(value, 2)}x"
    places = 0 if value >= 9.95 else 1 if value >= 1.995 else 2
    return f"{value:.{places}f}x"


def percent(share: float, places: int | None = 0, *, signed: bool = False) -> str:
    """A share of 1 as '12 %', with one decimal '12.3 %', signed '+12 %'; 'unknown' if it is none.

    Without `places` it has three significant digits.
    """
    if not math.isfinite(share):
        return UNKNOWN
    if abs(share) >= SHARE_MOST:
        return f"over {SHARE_MOST * 100:.0f} %" if share > 0 else f"below -{SHARE_MOST * 100:.0f} %"
    text = (
        format_number(share * 100)
        if places is None
        else f"{round(share * 100, places) + 0.0:.{places}f}"  # no "-0"
    )
    return f"+{text} %" if signed and share >= 0 else f"{text} %"


def is_factor(ratio: float) -> bool:
    """Whether a ratio of times is read as a factor rather than as a percentage."""
    return not 0.5 < ratio < 2


def change(ratio: float, *, as_factor: bool = False) -> str:
    """Format a ratio of times as a change: '+25.1 %', from a factor of two on '2.4x'.

    With `as_factor` always as '1.25x', for a column where others are.
    """
    return times(ratio) if as_factor or is_factor(ratio) else f"{(ratio - 1) * 100:+.1f} %"


def change_span(ratio: float, low: float, high: float, *, as_factor: bool = False) -> str:
    """'+22.1 to +28.4 %' of a change, from a factor of two on '2.9 to 163': in its unit.

    '–' or 'unknown' as in `span`; `as_factor` as in `change`.
    """
    if as_factor or is_factor(ratio):
        return span(low, high, times).replace("x", "")
    text = span(low, high, lambda end: f"{(end - 1) * 100:+.1f}")
    return text if text in (MISSING, UNKNOWN) else f"{text} %"


def half_width_text(share: float) -> str:
    """'±3.2 %' of a relative half-width; 'unknown' if it is as wide as the value itself.

    What is only the rounding of numbers, as on a machine without noise, is '±0 %'.
    """
    shown = 0.0 if abs(share) < ROUNDING else share
    return f"±{format_number(shown * 100, 2)} %" if share < 0.995 else UNKNOWN


def says_nothing(low: float, high: float) -> bool:
    """Whether an interval is so wide that its ends only mislead, as that of two launches may be."""
    return not (high <= WIDEST * low and math.isfinite(high))


def span(low: float, high: float, form: Callable[[float], str] = format_number) -> str:
    """'210 ns to 225 ns'; '–' if there is none, 'unknown' if its ends would only mislead."""
    if math.isnan(low) or math.isnan(high):
        return MISSING
    return UNKNOWN if says_nothing(low, high) else f"{form(low)} to {form(high)}"


def share_span(low: float, high: float) -> str:
    """'35 to 46 %' of shares, which may be 0."""
    if not (math.isfinite(low) and math.isfinite(high) and max(abs(low), abs(high)) < SHARE_MOST):
        return UNKNOWN
    return f"{low * 100:.0f} to {percent(high)}"


def grouped(number: int) -> str:
    """A count with its digits in groups of three: '12 345'; a large one in millions."""
    if abs(number) >= MOST:
        return f"{format_number(number / 1e6)} million"
    return f"{number:,}".replace(",", " ")


def _trimmed(text: str) -> str:
    """A number without trailing zeros behind the point."""
    return text.rstrip("0").rstrip(".") if "." in text else text
