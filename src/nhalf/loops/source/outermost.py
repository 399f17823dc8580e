"""The outermost declarations, definitions and statements of a C text, without parsing them."""

import re
from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#.*$|[(){};]', re.MULTILINE)
_MARKER = re.compile(r'^# (\d+) "((?:\\.|[^"])*)".*$')
_STATEMENT = re.compile(r"(?:for|while|do|if|else)\b|\{|[A-Za-z_]\w*(?:\s*\[[^;]*\])*\s*[-+*/]?=")


def outermost(text: str) -> Iterator[tuple[int, int]]:
    """The begin and the end of each part: up to its semicolon, or its last brace."""
    begin = depth = 0
    is_body = False
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word in "([{":
            if word == "{" and not depth:
                is_body = text[begin : token.start()].rstrip().endswith((")", "else", "do")) or (
                    not _without_markers(text[begin : token.start()]).strip()
                )
            depth += 1
        elif word in ")}":
            depth = max(0, depth - 1)
        is_end = (word == ";" or (word == "}" and is_body)) and not depth
        if is_end:
            yield begin, token.end()
            begin, is_body = token.end(), False
    if text[begin:].strip():
        yield begin, len(text)


def is_fragment(text: str) -> bool:
    """Whether statements stand outside any function, and no function is defined."""
    parts = [_without_markers(text[begin:end]).strip() for begin, end in outermost(text)]
    statements = [part for part in parts if _STATEMENT.match(part)]
    return bool(statements) and not any(
        part.endswith("}") and part not in statements and not re.match(r"(?:struct|enum)\b", part)
        for part in parts
    )


def offset_of(text: str, file: str, line: int) -> int:
    """Where a line of a file begins in its preprocessed text; -1 if it is not there."""
    offset, present_file, present_line = 0, file, 1
    for written in text.splitlines(keepends=True):
        marker = _MARKER.match(written.rstrip("\n"))
        if marker:
            present_file, present_line = marker[2], int(marker[1])
        else:
            if (present_file, present_line) == (file, line):
                return offset
            present_line += 1
        offset += len(written)
    return -1


def _without_markers(text: str) -> str:
    return re.sub(r"^[ \t]*#.*$", "", text, flags=re.MULTILINE)
