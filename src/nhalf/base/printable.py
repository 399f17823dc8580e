"""Text of others, such as names of libraries and hosts, as it may reach a terminal or a page.

Control characters would set a terminal's title, move its cursor or hide what stands before them;
characters that turn the direction of writing make a line read as another one.

Text for terminals and pipes whose encoding lacks characters: 43 us instead of 43 ?s.
"""

import codecs
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

REPLACEMENT = "\ufffd"
CONTROL = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    "\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What no text needs but ends of lines and tabs; also bytes of names that are no UTF-8."""


def printable(text: str) -> str:
    """The text with a sign in place of every control character."""
    return CONTROL.sub(REPLACEMENT, text)


def printable_parts(content: Any) -> Any:
    """Lists and dictionaries with the same for every text in them."""
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, dict):
        return {printable_parts(key): printable_parts(value) for key, value in content.items()}
    return [printable_parts(value) for value in content] if isinstance(content, list) else content


def say(text: str) -> None:
    """Write a line of nhalf's own on standard error, at once; nothing for ''."""
    if text:
        sys.stderr.write(f"nhalf: {text}\n")
        sys.stderr.flush()


class PrintableStream:
    """A standard stream that takes text of any content."""

    def __init__(self, stream: TextIO) -> None:
        """Write to this stream."""
        self.rich_proxied_file = stream
        """Where rich writes, which makes control characters of its own, for colours."""

    def write(self, text: str) -> int:
        """Write text without control characters."""
        return self.rich_proxied_file.write(printable(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        """All else is as of the stream itself."""
        return getattr(self.rich_proxied_file, name)


class PrintableSegments:
    """What makes a console of rich print text without control characters but its own."""

    def render(self, renderable: Any, options: Any = None) -> Iterator[Any]:
        """The parts of what is printed."""
        for segment in super().render(renderable, options):  # type: ignore[misc]
            is_text = segment.control is None and CONTROL.search(segment.text)
            yield segment._replace(text=printable(segment.text)) if is_text else segment


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
