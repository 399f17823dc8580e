"""What launchers, log collectors and web pages put before or around each line of a log.

A suite's header shows what comes before its own text: `[1,0]<stdout>:`, `0: `, a time stamp, a
host and a program, `> `. Every line that begins in the same form, with other words and numbers, is
freed of it.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence

_ESCAPE = re.compile(
    r"(?:\x1b|\^\[)\[[0-9;?]{0,20}[A-Za-z]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]"
)
_GROUP_SPACE = re.compile(r"(?<=\d)[\xa0\u202f\u2009'’](?=\d{3}(?!\d))")
_INVISIBLE = re.compile("[\ufeff\u200b\u200c\u200d\u2060]")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT[\d:.,]{8,24}(?:Z|[+-]\d\d:?\d\d)? ")
_LABEL = re.compile(r"\s{0,8}(?:\d{1,7}:|\[\d{1,7}\]) ")
_TAG_HEADS = frozenset("[(0123456789 \t")
_PIECE = re.compile(r"\d+|[^\W\d]\w*|\s+|.", re.DOTALL)
_PAGE = re.compile(
    r"</?(?:pre|code|p|div|span|table|thead|tbody|tt|body|html|b|i|font|li|ul)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_CELL_END = re.compile(r"</t[dh]>", re.IGNORECASE)
_CELL = re.compile(r"<t[dh]\b[^<>]{0,200}>", re.IGNORECASE)
_BREAK = re.compile(r"<br ?/?>|</tr>|<tr\b[^<>]{0,200}>", re.IGNORECASE)
_MARKUP = ("<pre", "<br", "<td", "<code", "<p>", "<PRE", "<TD", "<BR", "&nbsp;", "&lt;", "&gt;")
PREFIX_MOST = 160
"""Longer ones are text in which a header is quoted."""
FORMS_MOST = 12


def plain_lines(text: str) -> list[str]:
    """The lines of a text without colours, markup of web pages, and marks that nobody sees."""
    if "\x1b" in text or "^[[" in text:
        text = _ESCAPE.sub("", text)
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    if "'" in text or not text.isascii():
        text = _GROUP_SPACE.sub("", text)
    if any(mark in text for mark in _MARKUP):
        text = _without_markup(text)
    text = text.replace("\xa0", " ")
    lines = text.replace("\0", " ").splitlines()
    if any(line.startswith('{"log":') for line in lines[:20]):
        lines = [_of_container(line) for line in lines]
    return lines


def without_prefixes(lines: Sequence[str], head: re.Pattern[str]) -> list[str]:
    """The lines without what stands before the headers, which `head` finds, and its like."""
    forms: dict[str, re.Pattern[str]] = {}
    for line in lines:
        if len(forms) < FORMS_MOST and (begin := head.search(line[: 4 * PREFIX_MOST])) is not None:
            before = line[: begin.start()]
            if before.strip() and len(before) <= PREFIX_MOST:
                form = _form(before)
                forms.setdefault(form, re.compile(form))
    if not forms:
        return [_without_tag(line) if line[:1] in _TAG_HEADS else line for line in lines]
    in_turn = sorted(forms.values(), key=lambda form: -len(form.pattern))
    return [_freed(line, in_turn) for line in lines]


def _freed(line: str, forms: Sequence[re.Pattern[str]]) -> str:
    for form in forms:
        if begin := form.match(line[: 2 * PREFIX_MOST]):
            return line[begin.end() :]
    return _without_tag(line) if line[:1] in _TAG_HEADS else line


def _form(before: str) -> str:
    """The regular expression of a prefix: its words and numbers may be others."""
    parts, was_word = [], False
    for piece in _PIECE.findall(before):
        if piece.isspace():
            parts.append(r"\s{1,40}" if was_word else r"\s{0,40}")
            was_word = False
        elif piece[0].isdigit():
            parts.append(r"\d{1,24}")
            was_word = True
        elif piece[0] == "_" or piece[0].isalpha():
            parts.append(r"[^\W\d]\w{0,60}")
            was_word = True
        else:
            parts.append(re.escape(piece))
            was_word = False
    if before[-1].isspace():
        # A tag's only blank is its own; several belong to the suite's text.
        parts[-1] = r"\s?" if not was_word else r"\s"
    return "".join(parts)


def _without_tag(line: str) -> str:
    """A line without `[1,0]<stdout>:`, `0: `, `[0] ` or a time stamp before it."""
    if "<stdout>" in line:
        line = line.partition("<stdout>")[2].removeprefix(":")
    if line[4:5] == "-" and (stamp := _STAMP.match(line)):
        line = line[stamp.end() :]
    if ("] " in line or ": " in line) and "-->" not in line and (label := _LABEL.match(line)):
        line = line[label.end() :]
    return line


def _without_markup(text: str) -> str:
    """The text of a web page; rows of a table are lines."""
    text = _BREAK.sub("\n", _CELL.sub("", _CELL_END.sub("  ", text)))
    return html.unescape(_PAGE.sub("", text))


def _of_container(line: str) -> str:
    """What a container printed, from its log in JSON."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return line
    text = entry.get("log") if isinstance(entry, dict) else None
    return text.rstrip("\r\n") if isinstance(text, str) else line
