"""Help texts: the examples of a docstring, and summaries of verbs that are not imported.

To import or to parse all verbs takes as long as everything else that `nhalf --help` does.
"""

import functools
import re
from collections.abc import Iterable
from pathlib import Path

import click

from nhalf.base import plugins

SUMMARY = re.compile(r'^def command\(.*\).*:\n    """(.*?)(?:"""|$)', re.MULTILINE)
TITLE = re.compile(r'^"""(.*?)(?:"""|$)', re.MULTILINE)
GROUP = re.compile(r'^GROUP = "(\w+)"$', re.MULTILINE)


def summary(folder: str, name: str) -> str:
    """The first line of the docstring of `command` in a module, or of the module.

    `folder` is `verbs` or `forms`.
    """
    text = _text(folder, name)
    match = SUMMARY.search(text) or TITLE.search(text)
    return match[1] if match else ""


def group_of(name: str) -> str:
    """The group of help that the module of a verb names, '' for none."""
    match = GROUP.search(_text("verbs", name))
    return match[1] if match else ""


@functools.cache
def _text(folder: str, name: str) -> str:
    """The source of a module."""
    return (Path(__file__).parent / folder / f"{plugins.module_name(name)}.py").read_text("utf-8")


EXAMPLE = re.compile(r"nhalf |mpiexec -n \d+ env \$\(nhalf ")


def split_examples(text: str) -> tuple[str, tuple[str, ...]]:
    """Split a docstring into its description and the commands of its last paragraph."""
    description, _, last_paragraph = text.rstrip().rpartition("\n\n")
    lines = tuple(last_paragraph.splitlines())
    is_examples = bool(description) and all(EXAMPLE.match(line) for line in lines)
    return (description, lines) if is_examples else (text, ())


def write_examples(formatter: click.HelpFormatter, examples: Iterable[str]) -> None:
    """Write the section of examples of a help text, one line each, never wrapped."""
    with formatter.section("Examples"):
        for line in examples:
            formatter.write(f"{'':{formatter.current_indent}}{line}\n")
