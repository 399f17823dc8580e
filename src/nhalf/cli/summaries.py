"""What help says of verbs that are not imported, read from the text of their modules.

To import or to parse all verbs takes as long as everything else that `nhalf --help` does.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

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
    path = Path(__file__).parent / folder / f"{plugins.module_name(name)}.py"
    return path.read_text("utf-8")
