"""Text for terminals and pipes whose encoding lacks characters: 43 us instead of 43 ?s."""

from __future__ import annotations

import codecs
import unicodedata

NAME = "nhalf-plain"
"""The name of the error handler, for `errors=` of a stream."""
POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
SPELLED = {
    **{"µ": "u", "μ": "u", "×": "x", "±": "+-", "–": "-", "—": "-", "−": "-", "…": "...", "·": "*"},
    **{"≤": "<=", "≥": ">=", "≈": "~", "≠": "!=", "→": "->", "←": "<-", "½": "1/2", "√": "sqrt"},
    **{"⌈": "ceil(", "⌉": ")", "⌊": "floor(", "⌋": ")", "“": '"', "”": '"', "‘": "'", "’": "'"},
    **{"•": "*", "°": " deg", "│": "|", "┃": "|", "─": "-", "━": "-", "�": "?"},
    **{"✓": "ok", "✗": "no", "÷": "/", "⇄": "<->", "›": ">"},
    **{bar: str(level) for level, bar in enumerate("▁▂▃▄▅▆▇█", 1)},
    **{"Δ": "delta", "σ": "sigma", "λ": "lambda", "β": "beta", "α": "alpha", "γ": "gamma"},
    **{"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "æ": "ae", "œ": "oe"},
}


def register() -> None:
    """Make the error handler available to streams."""
    codecs.register_error(NAME, _spelled_out)


def _spelled_out(error: UnicodeError) -> tuple[str, int]:
    """Spell out the characters that an encoding lacks; '?' for those without a spelling."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = "".join(_spelling(error.object, place) for place in range(error.start, error.end))
    return text, error.end


def _spelling(text: str, place: int) -> str:
    character, before = text[place], text[place - 1 : place]
    if character == "∞":  # r∞ is r_inf
        return "_inf" if before.isalpha() else "inf"
    if character in POWERS:  # 10⁹ is 10^9
        return ("" if before and before in POWERS else "^") + "0123456789-"[POWERS.index(character)]
    if character in SPELLED:
        return SPELLED[character]
    decomposed = unicodedata.normalize("NFKD", character)  # codespell:ignore
    return decomposed.encode("ascii", "ignore").decode() or "?"
