# SPDX-License-Identifier: Apache-2.0
"""A C file as a syntax tree, preprocessed with own headers, so that no C library is needed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.loops.source.refusal import Refused

HEADERS = Path(__file__).parent / "headers"
COMPILERS = ("gcc", "clang", "cc")
TIMEOUT_S = 20.0
MACROS = (
    *("__attribute__(x)=", "__extension__=", "__restrict=restrict", "__restrict__=restrict"),
    *("__inline=inline", "__inline__=inline", "__const=const", "__volatile__=volatile"),
    *("__signed__=signed", "__alignof__=sizeof", "__builtin_expect(x,y)=(x)"),
)
"""Extensions of GNU C, defined away or as words of the standard."""


_ASSEMBLY = re.compile(r"\b(?:__asm__|__asm|asm)\b(?:\s*(?:volatile|inline|goto)\b)*\s*(?=\()")
_LABEL = re.compile(r"\)\s*(?:__asm__|__asm|asm)\s*\((?:\s*\"[^\"]*\")+\s*\)(?=\s*;)")


def parsed(path: Path) -> c_ast.FileAST:
    """The syntax tree of a file; raises Refused if it is empty or not C.

    Raises MissingError if there is no compiler to preprocess it.
    """
    text = preprocessed(path)
    if not re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE).strip():
        raise Refused("the file is empty", remedy="name a C source with a loop")
    try:
        return CParser().parse(_without_assembly(text), str(path))
    except ParseError as error:
        raise _parser_refusal(str(error)) from None
    except RecursionError:
        raise Refused("it is nested too deeply to be read") from None


def _without_assembly(text: str) -> str:
    """Replace inline assembly by a call of an unknown function; drop assembly names."""
    text = _LABEL.sub(")", text)
    while match := _ASSEMBLY.search(text):
        end = _closed(text, match.end())
        lines = "\n" * text.count("\n", match.start(), end)
        text = f"{text[: match.start()]}inline_assembly(){lines}{text[end:]}"
    return text


def _closed(text: str, begin: int) -> int:
    """The position after the parenthesis that closes the one at `begin`; else the end of text."""
    depth = 0
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|[()]', text[begin:]):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if not depth:
            return begin + token.end()
    return len(text)


def preprocessed(path: Path) -> str:
    """The preprocessed text of a file, with line markers."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Refused(f"it cannot be read: {error.strerror or error}") from None
    if b"\0" in content:
        raise Refused("it is not a text file", remedy="name a C source")
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise MissingError(
            "there is no compiler to preprocess C", f"install one of {', '.join(COMPILERS)}"
        )
    defines = [f"-D{macro}" for macro in MACROS]
    command = [compiler, "-E", "-xc", "-nostdinc", "-isystem", str(HEADERS), *defines, str(path)]
    outcome = run(command, TIMEOUT_S)
    if not outcome.succeeded:
        raise _preprocessor_refusal(outcome.stderr, outcome.reason)
    return outcome.stdout


def _preprocessor_refusal(message: str, reason: str) -> Refused:
    """A refusal with the first error of the preprocessor."""
    match = re.search(r":(\d+):\d+: (?:fatal )?error: (.*)", message)
    if match is None:
        return Refused(f"it cannot be preprocessed: {reason}")
    return Refused(f"it cannot be preprocessed: {match[2]}", int(match[1]))


def _parser_refusal(message: str) -> Refused:
    """A refusal with the error of the parser, which begins with its position."""
    match = re.match(r"(?:.*?:)?(\d+)(?::\d+)?: (.*)", message)
    complaint = re.sub(
        r"^before: (.*)", r"a syntax error before `\1`", match[2] if match else message
    )
    if match is None:
        # Without a place it names the file.
        complaint = complaint.rpartition(": ")[2].lower()
    return Refused(f"this is not valid C: {complaint}", int(match[1]) if match else 0)
