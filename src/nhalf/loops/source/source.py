"""A C file, or a fragment of one, as a syntax tree: only what needs missing headers is refused."""

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from nhalf.loops.source.preprocessed import HeaderSearch, preprocessed
from nhalf.loops.source.refusal import RefusedSource, parser_refusal
from nhalf.loops.source.variables import UNDECLARED

_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#.*$|[(){};]', re.MULTILINE)
_LINE_MARKER = re.compile(r'^# (\d+) "((?:\\.|[^"])*)".*$')
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
        marker = _LINE_MARKER.match(written.rstrip("\n"))
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


def parsed_fragment(text: str, path: Path) -> c_ast.FileAST:
    """The tree of a function around a fragment, named after its file.

    Names that nothing declares are integers that it takes. Raises ParseError if it is no C.
    """
    name = re.sub(r"\W", "_", path.stem) or "fragment"
    name = f"_{name}" if name[0].isdigit() else name
    names = _Names()
    names.visit(CParser().parse(_function(text, name, "void"), str(path)))
    parameters = ", ".join(f"int {used}" for used in names.used if used not in names.declared)
    return CParser().parse(_function(text, name, parameters or "void"), str(path))


def _function(text: str, name: str, parameters: str) -> str:
    return f"void {name}({parameters}) {{\n{text}\n}}\n"


class _Names(c_ast.NodeVisitor):  # type: ignore[misc]
    """The names that are declared, and those that are used as numbers."""

    def __init__(self) -> None:
        self.declared: set[str] = set()
        self.used: dict[str, None] = {}

    def visit_Decl(self, node: c_ast.Decl) -> None:
        self.declared.add(node.name)
        self.generic_visit(node)

    def visit_Typedef(self, node: c_ast.Typedef) -> None:
        self.declared.add(node.name)

    def visit_Enumerator(self, node: c_ast.Enumerator) -> None:
        self.declared.add(node.name)
        self.generic_visit(node)

    def visit_FuncCall(self, node: c_ast.FuncCall) -> None:
        if node.args:
            self.visit(node.args)

    def visit_ArrayRef(self, node: c_ast.ArrayRef) -> None:
        # The name of what is subscripted is not a number.
        if not isinstance(node.name, c_ast.ID):
            self.visit(node.name)
        self.visit(node.subscript)

    def visit_ID(self, node: c_ast.ID) -> None:
        self.used[node.name] = None


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
