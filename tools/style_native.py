"""Rules for the C++ side that need to know its rooms, its tests and what the clock sees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from style_source import Complaint, Source, closing

NATIVE_ROOMS = (
    *("contract", "host", "network", "timing", "pgas", "algorithms/bases", "algorithms"),
    *("multicast/bases", "multicast", "patterns/bases", "patterns", "simulator"),
    *("transports/bases", "transports", "composer", "preloaded", "interposer", "probe"),
    *("calls", "trace", "fabric", "fabric/provider", "apps"),
    *("node", "replay"),
)
"""The rooms of native/ from the ground up: a header includes its own and those before it."""

TIMED_ROOMS = ("native/patterns/", "native/algorithms/")
TIMES_ITSELF = {
    "native/patterns/bases/collectives/forms.hpp",
    "native/patterns/traffic/traffic.hpp",
    "native/patterns/traffic/victim.hpp",
    "native/patterns/bases/traffic/congestors.hpp",
    "native/patterns/pairs/pair_map.hpp",
    "native/patterns/pairs/roundtrip_gap_overhead.hpp",
    "native/patterns/collectives/barrier_communicator.hpp",
}
"""Where waiting for a time or taking one is part of the traffic."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)


def _native(sources: Iterable[Source]) -> dict[str, Source]:
    """The C++ files of native/ by their path in it."""
    ours = (s for s in sources if s.path.startswith("native/") and s.suffix in {".hpp", ".cpp"})
    return {source.path.removeprefix("native/"): source for source in ours}


def _room(path: str) -> int:
    """The place of a native file's room in their order; -1 if it is in none."""
    inside = [room for room in NATIVE_ROOMS if path.startswith(f"{room}/")]
    return NATIVE_ROOMS.index(max(inside, key=len)) if inside else -1


def no_include_upward(sources: list[Source]) -> Iterator[Complaint]:
    """Every native file is in a room, and no header includes one of a room that stands later."""
    for path, source in _native(sources).items():
        room = _room(path)
        if room < 0:
            yield source.complain(1, "room", "it is in none of the rooms of native/")
        for match in _INCLUDE.finditer(source.text):
            if source.suffix == ".hpp" and _room(match[1]) > room:
                line = source.line_at(match.start(1))
                yield source.complain(line, "room", f"{match[1]} stands above {NATIVE_ROOMS[room]}")


def no_circle(sources: list[Source]) -> Iterator[Complaint]:
    """No native header includes itself, however far round."""
    native = _native(sources)
    done: set[str] = set()

    def visit(path: str, way: tuple[str, ...]) -> Iterator[Complaint]:
        if path in way:
            round_trip = " -> ".join((*way[way.index(path) :], path))
            yield native[path].complain(1, "circle", round_trip)
        elif path in native and path not in done:
            for name in _INCLUDE.findall(native[path].text):
                yield from visit(name, (*way, path))
            done.add(path)

    for path in native:
        yield from visit(path, ())


def own_header_first(sources: list[Source]) -> Iterator[Complaint]:
    """The test of a header includes it before anything else: so it compiles by itself.

    Tests of patterns are for the transport that they are compiled with, which comes first.
    """
    headers = set(_native(sources))
    for source in sources:
        found = re.fullmatch(r"tests/native/(.+/)test_(\w+)\.cpp", source.path)
        own = f"{found[1]}{found[2]}.hpp" if found else ""
        if own not in headers or re.match(r"patterns/(?!bases/)", own):
            continue
        first = re.search(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', source.text, re.MULTILINE)
        if first is None or first[1] != own:
            line = source.line_at(first.start()) if first else 1
            yield source.complain(line, "own-header", f"its first include is not {own}")


_ALLOCATIONS = (
    r"\b(?:new|malloc|calloc|realloc|aligned_alloc|strdup|make_unique|make_shared|resize|push_back|"
    r"emplace|emplace_back|emplace_front|push_front|insert|append|assign|reserve|substr|to_string|"
    r"shrink_to_fit)\b|\bstd::(?:vector|deque|list|string|map|set|unordered_\w+|function|any|"
    r"[io]?stringstream)\b(?!\s*(?:<[^;(){}]*>)?\s*[&*:])|\bBuffer\b(?:\s+\w+)?\s*[({]"
)
_OUTPUTS = (
    r"\b(?:v?f?printf|puts|fputs|putchar|fputc|perror|fwrite|cout|cerr|clog|[io]?fstream|print|"
    r"println|write_line|syslog)\b|\bfmt::"
)
_CLOCK_READINGS = r"\b(?:now_s|idle_until|sleep_for|sleep_until|nanosleep|usleep)\b"
_TIMED_BANS = re.compile(f"{_ALLOCATIONS}|{_OUTPUTS}")
_TIMED_CLOCKS = re.compile(_CLOCK_READINGS)
_CALL = re.compile(r"\b(\w+)\s*(?:<[^<>;(){}]*>)?\s*\(")
_HEAD = re.compile(r"\b(operator\(\)|\w+)\s*\(")
_BEFORE_BODY = re.compile(r"\s*(?:(?:const|final|mutable|noexcept|override)\s*)*(?:->[^;{}]*)?\{")
_NATIVE_LAMBDA = re.compile(r"\[[^][]*\]\s*\((?=T& )")
_NO_FUNCTION = {"if", "for", "while", "switch", "catch", "return", "requires", "sizeof", "decltype"}
_TIMED_FIRST = {"run", "work", "operator()", "a native operation"}
"""What a batch calls: the pattern, the algorithm that it chose, or the transport's own one."""


@dataclass(frozen=True)
class Body:
    """The body of a function: whose, where it begins in its file, and its text."""

    name: str
    start: int
    text: str

    @property
    def calls(self) -> set[str]:
        """Names of whatever may be called in it."""
        return {match[1] for match in _CALL.finditer(self.text)}


@lru_cache(maxsize=4096)
def _bodies(bare: str) -> tuple[Body, ...]:
    """The functions of a C++ text without comments and literals, lambdas on a transport too."""
    heads = [
        (match, match[1])
        for match in _HEAD.finditer(bare)
        # After a comma or a colon it is a constructor's initialiser.
        if match[1] not in _NO_FUNCTION and bare[: match.start()].rstrip()[-1:] not in {",", ":"}
    ]
    heads += [(match, "a native operation") for match in _NATIVE_LAMBDA.finditer(bare)]
    found = []
    for head, name in heads:
        after = _BEFORE_BODY.match(bare, closing(bare, head.end(), "()") + 1)
        if after is not None:
            end = closing(bare, after.end())
            found.append(Body(name, after.end(), bare[after.end() : end]))
    return tuple(found)


_TRAFFIC = re.compile(
    r"\btransport_?\.(?:[bsr]?send|recv|exchange|isend|irecv|wait|wait_any|alltoallv)\b"
    r"|\b(?:send|wait_all|run_)\(transport\b"
)
_UNTIMED = {"attach_buffer", "PingPongRsend", "open", "prepare", "settle", "verify"}
"""Functions that move messages before or after a batch."""


@lru_cache(maxsize=4)
def _timed(files: tuple[Source, ...]) -> frozenset[tuple[str, Body]]:
    """The functions of these files that a timed batch may run, with the paths in native/."""
    return frozenset(_timed_bodies({s.path.removeprefix("native/"): s for s in files}))


def _timed_bodies(native: dict[str, Source]) -> Iterator[tuple[str, Body]]:
    """What a timed batch may run: in algorithms every function, in patterns what `run` reaches.

    Whom a name calls is decided by the name alone, among the functions of a file and of all that
    it includes: a base's loop calls what the patterns on it define, and the other way round.
    """
    timed = {path: source for path, source in native.items() if source.path.startswith(TIMED_ROOMS)}
    for path, source in timed.items():
        seen = _reachable(path, timed)
        functions = [(name, body) for name in seen for body in _bodies(timed[name].bare)]
        if path.startswith("algorithms/"):
            yield from ((path, body) for body in _bodies(source.bare))
            continue
        wanted = set(_TIMED_FIRST)
        reached: set[tuple[str, Body]] = set()
        while fresh := {one for one in functions if one[1].name in wanted} - reached:
            reached |= fresh
            wanted |= {call for _, body in fresh for call in body.calls}
        yield from reached


def _reachable(path: str, native: dict[str, Source]) -> list[str]:
    """A file and all of `native` that it includes, directly or not."""
    seen = [path]
    for one in seen:
        seen += {n for n in _INCLUDE.findall(native[one].text) if n in native and n not in seen}
    return seen


def nothing_in_timed_bodies(sources: list[Source]) -> Iterator[Complaint]:
    """Whatever runs inside a timed batch neither allocates nor prints nor looks at the clock."""
    native = _native(sources)
    for path, body in _timed(tuple(native.values())):
        source = native[path]
        found = list(_TIMED_BANS.finditer(body.text))
        if source.path not in TIMES_ITSELF:
            found += _TIMED_CLOCKS.finditer(body.text)
        for match in found:
            line = source.line_at(body.start + match.start())
            what = f"{match[0].strip()} in {body.name}, which is timed"
            yield source.complain(line, "timed", what)


def all_traffic_is_timed(sources: list[Source]) -> Iterator[Complaint]:
    """Whatever moves messages where the clock sees it is among what the rule above looks at.

    It is found by its text, not by what calls it: so no loop gets away by the way it is called.
    """
    native = _native(sources)
    timed = _timed(tuple(native.values()))
    for path, source in native.items():
        if not source.path.startswith(TIMED_ROOMS):
            continue
        is_algorithm = path.startswith("algorithms/")
        moving = [
            body
            for body in _bodies(source.bare)
            if (is_algorithm or body.name == "run" or _TRAFFIC.search(body.text))
            and body.name not in _UNTIMED
        ]
        for body in moving:
            if (path, body) not in timed:
                what = f"{body.name} moves messages, but no timed batch is seen to call it"
                yield source.complain(source.line_at(body.start), "untimed", what)
        if not moving and (is_algorithm or path.endswith("_loop.hpp")):
            yield source.complain(1, "untimed", "no function that moves messages is found in it")


NATIVE_TREE_RULES = (
    *(no_include_upward, no_circle, own_header_first),
    *(nothing_in_timed_bodies, all_traffic_is_timed),
)
