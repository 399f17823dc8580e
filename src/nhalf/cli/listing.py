"""`nhalf run --list`: studies, and patterns by kind, each with its variants."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from nhalf.base.errors import unknown
from nhalf.present.terminal.output import emit_json, stdout_console
from nhalf.present.terminal.tables import show_table

if TYPE_CHECKING:
    from nhalf.measure.plan.catalogue import Study

SHOWN = ("name", "what")
MEMORY_NEEDS = {"one-sided", "windows", "mapped-memory", "signalling-puts", "segment-life"} | {
    *("computing", "active-messages")
}
GROUPS = {
    "pairs": "Messages between two ranks",
    "collectives": "Collective operations",
    "many": "Messages among many ranks",
    "memory": "Memory, one-sided access and active messages",
    "costs": "Single costs",
}
KINDS = {"first-rank": "pairs", "operation": "collectives", "slowest-rank": "many"}
"""Groups by the clock that times a pattern."""


def list_plans(word: str, *, as_json: bool, as_table: bool) -> None:
    """Print the studies, and the patterns of the probes; with `word`, only those that have it.

    Raises InputError if nothing has it.
    """
    from nhalf.measure.plan import catalogue
    from nhalf.measure.probe.pattern import every_pattern

    studies = [catalogue.study(name, cores=2) for name in catalogue.names()]
    patterns = every_pattern()
    if word:
        studies, patterns = _with_word(word, studies, patterns)
    if as_json:
        rows = [
            {name: getattr(study, name) for name in ("name", "title", "what")} for study in studies
        ]
        emit_json({"studies": rows, "patterns": [_shown(entry) for entry in patterns]})
        return
    titles = [(study.name, study.title) for study in studies]
    descriptions = [(entry["name"], entry["what"]) for entry in patterns]
    if not as_table:
        show_table(("study", "question"), titles)
        show_table(("pattern", "a value is"), descriptions)
    elif word:
        _write({"Studies": titles, "Patterns": descriptions})
    else:
        _write({"Studies": titles, **grouped(patterns)})
        sys.stdout.write("\nnhalf run --list WORD lists those with a word, variants included.\n")


def _write(sections: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Write names with their descriptions, wrapped to the terminal, under the titles."""
    formatter = click.HelpFormatter(width=stdout_console().width)
    for title, rows in sections.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)
    sys.stdout.write(formatter.getvalue())


def grouped(patterns: Sequence[Mapping[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    """Patterns with what they measure and their variants, by the titles of their groups."""
    names = {entry["name"] for entry in patterns}
    variants: dict[str, list[str]] = {}
    for name in sorted(names):
        if (plain := _plain(name, names)) != name:
            variants.setdefault(plain, []).append(name)
    rows: dict[str, list[tuple[str, str]]] = {title: [] for title in GROUPS.values()}
    for entry in patterns:
        name = entry["name"]
        if _plain(name, names) == name:
            also = f" (also {', '.join(variants[name])})" if name in variants else ""
            rows[GROUPS[_group(entry)]].append((name, entry["what"] + also))
    return rows


def _plain(name: str, names: Iterable[str]) -> str:
    """The pattern of which this is the persistent, threaded or non-blocking form."""
    for plain in (name.removesuffix("-persistent"), name.removesuffix("-threads"), name[1:]):
        is_form = plain != name and plain in names
        if is_form and (not name.endswith(plain) or name.startswith("i")):
            return plain
    return name


def _group(entry: Mapping[str, Any]) -> str:
    if MEMORY_NEEDS & {need.strip() for need in entry["needs"].split(",")}:
        return "memory"
    return KINDS.get(entry["timing"], "costs")


def _with_word(
    word: str, studies: Sequence[Study], patterns: Sequence[Mapping[str, Any]]
) -> tuple[list[Study], list[Mapping[str, Any]]]:
    """The studies and patterns whose name or description has a word; raises InputError for none."""
    lowered = word.lower()
    found_studies = [
        study for study in studies if lowered in f"{study.name} {study.title} {study.what}".lower()
    ]
    found_patterns = [
        entry for entry in patterns if lowered in " ".join(_shown(entry).values()).lower()
    ]
    if not found_studies and not found_patterns:
        names = [study.name for study in studies] + [entry["name"] for entry in patterns]
        raise unknown("study or pattern", word, names, "nhalf run --list")
    return found_studies, found_patterns


def _shown(entry: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(entry[key]) for key in SHOWN}
