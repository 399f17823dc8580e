"""Rules for findings and panels: siblings that read facts, neither the other nor their own kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from style_source import Complaint, Source, imports

FINDINGS = "src/nhalf/present/findings/"
PANELS = "src/nhalf/present/panels/"
NOT_FOR_FINDINGS = ("altair", "nhalf.present.charts", "nhalf.present.panels")
NOT_FOR_PANELS = ("nhalf.present.findings",)
COMPUTING = {"agg", "pivot", "ratio_interval", "launch_interval", "beyond"}
"""Functions for facts: a picture shows what they return."""


def _module(path: str) -> str:
    """The dotted name of a file of src/."""
    return ".".join(PurePosixPath(path).with_suffix("").parts[1:])


def nobody_reads_another_picture(sources: list[Source]) -> Iterator[Complaint]:
    """No finding or panel imports another one; findings draw nothing."""
    pictures = [source for source in sources if source.path.startswith((FINDINGS, PANELS))]
    modules = {_module(s.path) for s in pictures if not s.path.endswith("/__init__.py")}
    for source in pictures:
        banned = NOT_FOR_FINDINGS if source.path.startswith(FINDINGS) else NOT_FOR_PANELS
        siblings = modules - {_module(source.path)}
        for name in sorted(set(imports(source))):
            if name in siblings or name.startswith(banned):
                yield source.complain(1, "sibling", f"it imports {name}: put it into a fact")


def nothing_is_computed_in_a_picture(sources: list[Source]) -> Iterator[Complaint]:
    """No finding or panel calls what computes facts."""
    for source in sources:
        if not source.path.startswith((FINDINGS, PANELS)):
            continue
        for node in source.nodes:
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in COMPUTING:
                    yield source.complain(node.lineno, "picture", f"{name} is for facts")


PRESENT_TREE_RULES = (nobody_reads_another_picture, nothing_is_computed_in_a_picture)
