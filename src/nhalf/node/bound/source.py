# SPDX-License-Identifier: Apache-2.0
"""A C file as a syntax tree: preprocessed with headers of ours, so that no C library is needed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from nhalf.base.errors import MissingError
from nhalf.base.processes import run
from nhalf.node.bound.refusal import Refused

HEADERS = Path(__file__).parent / "headers"
COMPILERS = ("gcc", "clang", "cc")
TIMEOUT_S = 20.0
PLAIN = (
    *("__attribute__(x)=", "__extension__=", "__restrict=restrict", "__restrict__=restrict"),
    *("__inline=inline", "__inline__=inline", "__const=const", "__volatile__=volatile"),
    *("__signed__=signed", "__alignof__=sizeof", "__builtin_expect(x,y)=(x)"),
)
"""What GNU C has beyond the standard, in words of the standard."""


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
        raise _unparsable(str(error)) from None
    except RecursionError:
        raise Refused("it is nested too deeply to be read") from None


def _without_assembly(text: str) -> str:
    """Assembly as a call of what nobody knows; names that it gives to functions are left out."""
    text = _LABEL.sub(")", text)
    while found := _ASSEMBLY.search(text):
        end = _closed(text, found.end())
        lines = "\n" * text.count("\n", found.start(), end)
        text = f"{text[: found.start()]}inline_assembly(){lines}{text[end:]}"
    return text


def _closed(text: str, begin: int) -> int:
    """Where the parenthesis that opens at `begin` was closed; the end where it is not."""
    depth = 0
    for one in re.finditer(r'"(?:\\.|[^"\\])*"|[()]', text[begin:]):
        depth += {"(": 1, ")": -1}.get(one[0], 0)
        if not depth:
            return begin + one.end()
    return len(text)


def preprocessed(path: Path) -> str:
    """The text of a file after the preprocessor, with marks of its lines."""
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
    defines = [f"-D{one}" for one in PLAIN]
    command = [compiler, "-E", "-xc", "-nostdinc", "-isystem", str(HEADERS), *defines, str(path)]
    outcome = run(command, TIMEOUT_S)
    if not outcome.succeeded:
        raise _unprocessable(outcome.stderr, outcome.reason)
    return outcome.stdout


def _unprocessable(said: str, reason: str) -> Refused:
    """The preprocessor's first complaint."""
    found = re.search(r":(\d+):\d+: (?:fatal )?error: (.*)", said)
    if found is None:
        return Refused(f"it cannot be preprocessed: {reason}")
    return Refused(f"it cannot be preprocessed: {found[2]}", int(found[1]))


def _unparsable(said: str) -> Refused:
    """The parser's complaint, which begins with its place."""
    found = re.match(r"(?:.*?:)?(\d+)(?::\d+)?: (.*)", said)
    what = re.sub(r"^before: (.*)", r"a syntax error before `\1`", found[2] if found else said)
    if found is None:
        # Without a place it names the file.
        what = what.rpartition(": ")[2].lower()
    return Refused(f"this is not valid C: {what}", int(found[1]) if found else 0)
