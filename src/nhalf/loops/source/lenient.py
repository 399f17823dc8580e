"""Parsing of a file whose headers are partly missing: only what needs them is refused."""

import bisect
import re

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from nhalf.loops.source.outermost import offset_of, outermost
from nhalf.loops.source.refusal import RefusedSource, parser_refusal
from nhalf.loops.source.variables import UNDECLARED

ATTEMPTS_MAX = 60
_BEFORE = re.compile(r"([A-Za-z_]\w*)\s*[*\s]*$")
_MARKER = re.compile(r"^# (\d+) ")
_KEYWORDS = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else"),
        *("enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register"),
        *("restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch"),
        *("typedef", "union", "unsigned", "void", "volatile", "while"),
    )
)


def parsed_leniently(text: str, remedy: str) -> tuple[c_ast.FileAST, list[RefusedSource]]:
    """The tree without parts that cannot be parsed, and their refusals.

    Words that can only be types become types that nothing is known of. Raises ParseError if
    the place of a mistake is unknown.
    """
    unknown_types: list[str] = []
    refusals: list[RefusedSource] = []
    for _ in range(ATTEMPTS_MAX):
        declared = "".join(f"typedef struct {UNDECLARED}{name} {name};\n" for name in unknown_types)
        try:
            return CParser().parse(declared + text), refusals
        except ParseError as error:
            last_error = error
            file, line, column = _place(str(error))
            offset = offset_of(text, file, line)
            if offset < 0:
                text = _without_first_mistake(declared, text, refusals, remedy)
                continue
            word = _BEFORE.search(text[offset : offset + max(column - 1, 0)])
            if word and word[1] not in {*_KEYWORDS, *unknown_types}:
                unknown_types.append(word[1])
                continue
            refusal = parser_refusal(str(error))
            refusals.append(RefusedSource(refusal.message, refusal.line, remedy))
            text = _without_part(text, offset + max(column - 1, 0))
    raise last_error


def _without_first_mistake(
    declared: str, text: str, refusals: list[RefusedSource], remedy: str
) -> str:
    """The text without the first part that cannot be parsed, where the parser has no place."""
    ends = [end for _, end in outermost(text)]
    first = bisect.bisect_left(ends, True, key=lambda end: not _is_parsed(declared + text[:end]))
    end = ends[min(first, len(ends) - 1)]
    refusals.append(RefusedSource("this is not valid C", _line_at(text, end), remedy))
    return _without_part(text, end - 1)


def _is_parsed(text: str) -> bool:
    try:
        CParser().parse(text)
    except ParseError:
        return False
    return True


def _line_at(text: str, offset: int) -> int:
    """The line of its file that holds an offset in a preprocessed text."""
    lines = text[:offset].split("\n")
    for count, written in enumerate(reversed(lines)):
        if marker := _MARKER.match(written):
            return int(marker[1]) + count - 1
    return len(lines)


def _place(message: str) -> tuple[str, int, int]:
    match = re.match(r"(.*?):(\d+)(?::(\d+))?: ", message)
    return (match[1], int(match[2]), int(match[3] or 1)) if match else ("", 0, 0)


def _without_part(text: str, offset: int) -> str:
    """The text without the outermost part at an offset, with its lines."""
    for begin, end in outermost(text):
        if begin <= offset < end:
            lines = [
                line if line.lstrip().startswith("#") else ""
                for line in text[begin:end].split("\n")
            ]
            return text[:begin] + "\n".join(lines) + text[end:]
    return text[:offset]
