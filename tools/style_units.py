"""The rule that names of real numbers end with their unit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from style_source import CPP, PYTHON, Complaint, Source, closing

UNITS = re.compile(
    r"(?:^|_)(?:s|bytes|Bps|hz|cycles|ratio|fraction|relative|percent|per_\w+|level|factor|share|"
    r"probability|confidence|coverage|error|weight|score|cost|threshold|importance|ci|median|p95)$"
)
UNITLESS = {
    "median",
    "low",
    "high",
    "value",
    "limit",
    "published",
    "x",
    "y",
}  # in the unit of what they came from
UNITLESS |= {"o_r", "g", "L", "G", "rendezvous_G"}  # as LogGP calls them
UNITLESS |= {"precision", "noise", "drift", "launch_noise"}
UNITLESS |= {"state_slow", "flag_slow"}  # pure numbers
UNITLESS |= {"state_dwell", "to_ranks"}
UNITLESS |= {"place", "scale", "nugget", "variance", "mean_variance"}  # of logarithms
UNITLESS |= {"launch_variance", "visit_variance"}  # of logarithms
UNITLESS |= {"gram", "moment", "square", "ends", "slopes"}  # of relative least squares
UNITLESS |= {"messages", "partners", "degrees", "operations"}  # counted, as real numbers
UNITLESS |= {"taken_cores"}  # in the mean
UNITLESS |= {"added", "tolerated", "tolerated_low", "tolerated_high", "bends", "slope"}  # of a
# parameter that is named beside them, whose name has the unit
UNITLESS |= {"a", "b"}  # of two machines, in the unit that a name beside them has
UNITLESS |= {"edges", "states"}  # of flags or clocks, in the unit of their column
"""Names of real numbers that need no unit."""


def units_in_names(source: Source) -> Iterator[Complaint]:
    """Real-valued fields say their unit: last in the name."""
    for line, name in _real_fields(source):
        if name not in UNITLESS and not UNITS.search(name):
            yield source.complain(line, "unit", f"{name} does not end with its unit")


_CPP_FIELD = re.compile(r"^[ \t]*(?:const )?double\s+(\w[^;()]*);", re.MULTILINE)
_CPP_STRUCT = re.compile(r"\b(?:struct|class)\s+\w+[^;{}()]*\{")


def _real_fields(source: Source) -> Iterator[tuple[int, str]]:
    """Line and name of the real-valued fields of a file's classes."""
    if source.suffix in PYTHON and source.path.startswith("src/"):
        classes = (node for node in source.nodes if isinstance(node, ast.ClassDef))
        for item in (item for node in classes for item in node.body):
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                annotation = ast.unparse(item.annotation)
                if re.search(r"\b(?:float|Floats)\b", annotation):
                    yield item.lineno, item.target.id
    elif source.suffix in CPP and source.path.startswith("native/") and not _is_app(source):
        yield from _cpp_real_fields(source)


def _is_app(source: Source) -> bool:
    """Whether a file computes what an application specifies: its numbers have no units."""
    return source.path.startswith("apps/")


def _cpp_real_fields(source: Source) -> Iterator[tuple[int, str]]:
    """The same for C++: fields of structs, not the local variables of their functions."""
    for head in _CPP_STRUCT.finditer(source.bare):
        end = closing(source.bare, head.end())
        body = list(source.bare[head.end() : end])
        depth = 0
        for position, letter in enumerate(body):
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if depth > 0 and letter not in "{\n":
                body[position] = " "
        for match in _CPP_FIELD.finditer("".join(body)):
            line = source.line_at(head.end() + match.start(1))
            for field in match[1].split(","):
                yield line, re.split(r"[\s={]", field.strip())[0].rstrip("_")
