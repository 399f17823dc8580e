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
    *("__signed__=signed", "__alignof__=sizeof", "__asm__(x)=", "__builtin_expect(x,y)=(x)"),
)
"""What GNU C has beyond the standard, in words of the standard."""


def parsed(path: Path) -> c_ast.FileAST:
    """The syntax tree of a file; raises Refused if it is empty or no C.

    Raises MissingError if there is no compiler to preprocess it.
    """
    text = preprocessed(path)
    if not re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE).strip():
        raise Refused("the file is empty", remedy="name a C source with a loop")
    try:
        return CParser().parse(text, str(path))
    except ParseError as error:
        raise _unparsable(str(error)) from None
    except RecursionError:
        raise Refused("it is nested too deeply to be read") from None


def preprocessed(path: Path) -> str:
    """The text of a file after the preprocessor, with marks of its lines."""
    try:
        path.read_bytes().decode("utf-8")
    except OSError as error:
        raise Refused(f"it cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise Refused("it is no text", remedy="name a C source") from None
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
    if found is None:
        return Refused(f"it is no C: {said}")
    return Refused(f"it is no C: {found[2]}", int(found[1]))
