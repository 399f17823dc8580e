"""Declarations of the C++ side that do not say what they hold, by the words of `style_names.py`.

`python tools/style_native_names.py` prints the share of every room; with files or folders as
arguments, where their vague declarations are. A declaration is a variable, a parameter, a member or
a structured binding; clang-format puts `*` and `&` at the type, by which products are told apart.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from style_names import Binding, Share
from style_source import CPP, Complaint, Source

NATIVE_SHARE_MAX = 0.005
"""This share of the declarations of native/ may be vague."""
NATIVE = "native"
OPERAND = "other"
"""What C++ calls the second operand of comparisons, assignments, moves and swaps."""

_KEYWORDS = """
and case class co_await co_return co_yield const constexpr default delete do else enum extern
goto if inline mutable namespace new not operator or private protected public return sizeof static
static_cast struct template throw typedef typename union using volatile while
"""
_NO_TYPE = frozenset(_KEYWORDS.split())
"""Words before a name that is not declared there."""
_DECLARED = re.compile(
    r"(?P<const>\bconst )?(?P<type>\b\w+|>|\])(?:[&*]+|\.\.\.|&*\.\.\.)?(?: const)? "
    r"(?P<name>[a-z]\w*)\s*(?P<end>\[\w*\]|[=;,){:(]|$)",
    re.MULTILINE,
)
_OPERATION = re.compile(r"(?:operator[=<>]+|swap|\b[A-Z]\w*)\($")
_STRUCTURED = re.compile(r"\bauto&{0,2} ?\[([\w, ]+)\]")


def declarations(source: Source) -> Iterator[Binding]:
    """Every declaration of a C++ file, without the underscore of private members."""
    for match in _DECLARED.finditer(source.bare):
        # Without const, `Type name(` is a function more often than a variable.
        is_function = match["end"] == "(" and match["const"] is None
        is_operand = match["name"] == OPERAND and _OPERATION.search(source.bare[: match.start()])
        if match["type"] not in _NO_TYPE and not is_function and not is_operand:
            yield Binding(match["name"].rstrip("_"), source.line_at(match.start("name")))
    for match in _STRUCTURED.finditer(source.bare):
        for name in match[1].split(","):
            yield Binding(name.strip(), source.line_at(match.start(1)))


def _is_ours(source: Source) -> bool:
    return source.suffix in CPP and source.path.startswith(f"{NATIVE}/")


def room_shares(sources: list[Source]) -> dict[str, Share]:
    """The share of every room, and of all of native/."""
    counts: dict[str, Counter[bool]] = {}
    for source in filter(_is_ours, sources):
        in_file = Counter(declared.is_vague for declared in declarations(source))
        for room in (source.path.split("/")[1], NATIVE):
            counts.setdefault(room, Counter()).update(in_file)
    return {room: Share(count[True], count.total()) for room, count in sorted(counts.items())}


def declarations_say_what_they_hold(sources: list[Source]) -> Iterator[Complaint]:
    """No more than a small share of all declarations of native/ are vague; complains of each."""
    share = room_shares(sources).get(NATIVE, Share(0, 0))
    if share.vague <= NATIVE_SHARE_MAX * share.all:
        return
    limit = f"{share.vague} of {share.all} are, {NATIVE_SHARE_MAX:.1%} may"
    for source in filter(_is_ours, sources):
        for declared in declarations(source):
            if declared.is_vague:
                message = f"{declared.name} does not say what it holds ({limit})"
                yield source.complain(declared.line, "vague-native", message)


def _sources(root: Path, place: Path) -> Iterator[Source]:
    """The C++ files of a folder, or the file named, by their paths from the root."""
    for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if path.suffix in CPP:
            relative = path.resolve().relative_to(root).as_posix()
            yield Source(relative, path.read_text("utf-8"))


def main(arguments: list[str]) -> int:
    """Print every room's share, or the vague declarations of the files or folders named."""
    root = Path(__file__).resolve().parent.parent
    for argument in arguments:
        for source in _sources(root, Path(argument)):
            for declared in declarations(source):
                if declared.is_vague:
                    print(f"{source.path}:{declared.line}: {declared.name}")
    if not arguments:
        for room, share in room_shares(list(_sources(root, root / NATIVE))).items():
            print(f"{room:12} {share}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
