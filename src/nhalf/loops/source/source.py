"""A C file as a syntax tree."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from nhalf.loops.source.fragment import parsed_fragment
from nhalf.loops.source.lenient import parsed_leniently
from nhalf.loops.source.outermost import is_fragment
from nhalf.loops.source.preprocessed import HeaderSearch, preprocessed
from nhalf.loops.source.refusal import RefusedSource, parser_refusal

_ASSEMBLY = re.compile(r"\b(?:__asm__|__asm|asm)\b(?:\s*(?:volatile|inline|goto)\b)*\s*(?=\()")
_LABEL = re.compile(r"\)\s*(?:__asm__|__asm|asm)\s*\((?:\s*\"[^\"]*\")+\s*\)(?=\s*;)")


@dataclass(frozen=True)
class ParsedSource:
    """A syntax tree, what was refused of the file, and what helps where a header is missing."""

    tree: c_ast.FileAST
    refusals: list[RefusedSource] = field(default_factory=list)
    remedy: str = ""


def parsed(path: Path) -> c_ast.FileAST:
    """The syntax tree of a file; raises RefusedSource if it is empty or not C.

    Raises MissingError if there is no compiler to preprocess it.
    """
    return source_of(path, HeaderSearch()).tree


def source_of(path: Path, search: HeaderSearch) -> ParsedSource:
    """A file as a syntax tree; where headers are missing, without what needs them.

    Raises as `parsed` does.
    """
    whole = preprocessed(path, search)
    text = _without_assembly(whole.text)
    if not re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE).strip():
        if whole.missing_headers:
            names = ", ".join(whole.missing_headers)
            raise RefusedSource(
                f"nothing is in it without {names}", whole.missing_line, whole.remedy
            )
        raise RefusedSource("the file is empty", remedy="name a C source with a loop")
    try:
        if is_fragment(text):
            return ParsedSource(parsed_fragment(text, path), remedy=whole.remedy)
        return ParsedSource(CParser().parse(text, str(path)), remedy=whole.remedy)
    except ParseError as error:
        if not whole.missing_headers:
            raise parser_refusal(str(error)) from None
    except RecursionError:
        raise RefusedSource("it is nested too deeply to be read") from None
    try:
        return ParsedSource(*parsed_leniently(text, whole.remedy), whole.remedy)
    except ParseError as error:
        refusal = parser_refusal(str(error))
        raise RefusedSource(refusal.message, refusal.line, whole.remedy) from None


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
