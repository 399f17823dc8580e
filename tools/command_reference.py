"""The command reference, read from the parser itself.

`python tools/command_reference.py` prints it; the documentation contains it by `docs_hooks.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

HIDDEN = {"help", "version", "install_completion", "show_completion"}


def root() -> Any:
    """The parser of `nhalf`, a group of commands."""
    from nhalf.cli.group import command_line

    return command_line()


def commands(command: Any, path: tuple[str, ...] = ("nhalf",)) -> Iterator[tuple[str, Any]]:
    """The full name and the parser of a command and of everything below it."""
    yield " ".join(path), command
    for parameter in command.params:
        if hasattr(parameter, "command"):  # an option that makes another command of a verb
            yield f"nhalf {parameter.title}", parameter.command
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            below = command.get_command(None, name)
            if not below.hidden:
                yield from commands(below, (*path, name))


def parameters(command: Any) -> list[Any]:
    """What a command takes, without what every command has."""
    shown = (item for item in command.params if item.name not in HIDDEN)
    return [item for item in shown if not getattr(item, "hidden", False)]


def groups(command: Any) -> dict[str, list[Any]]:
    """The same by their headings, as in help."""
    from nhalf.cli.command import heading_of, in_order

    found: dict[str, list[Any]] = {}
    for parameter in parameters(command):
        found.setdefault(heading_of(parameter), []).append(parameter)
    return {heading: found[heading] for heading in in_order(found)}


def spelled(parameter: Any) -> str:
    """How a parameter is written: '--ranks', or 'RUN…' for words without a dash."""
    if parameter.param_type_name == "argument":
        name = str(parameter.metavar or parameter.name.upper()).strip("[].…")
        return f"{name}…" if parameter.nargs == -1 else name
    return ", ".join([*parameter.opts, *parameter.secondary_opts])


def usage(name: str, command: Any) -> str:
    """The command line of a command, its words without dashes in order."""
    if hasattr(command, "list_commands"):
        return f"{name} VERB …"
    words = []
    for item in parameters(command):
        if item.param_type_name == "argument":
            words.append(spelled(item) if item.required else f"[{spelled(item)}]")
    return " ".join([name, *words, "[OPTIONS]"])


def reference() -> str:
    """The whole reference, as Markdown: a section per command, a table per group of its options."""
    sections = []
    for name, command in commands(root()):
        text = [f"## {name}", f"    {usage(name, command)}"]
        text.append(inspect.cleandoc(command.help or command.short_help or ""))
        if getattr(command, "examples", ()):
            text.append("\n".join(["```", *command.examples, "```"]))
        for heading, members in groups(command).items():
            head = [f"| {heading} | what | if not given |", "|---|---|---|"]
            text.append("\n".join(head + [_row(parameter) for parameter in members]))
        sections.append("\n\n".join(text))
    return "\n\n".join(sections) + "\n"


def _row(parameter: Any) -> str:
    what = " ".join(str(getattr(parameter, "help", None) or "").split())
    cells = [f"`{spelled(parameter)}`", what, _fallback(parameter)]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _fallback(parameter: Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    if value is None or value == () or value == [] or value is False or value == "":
        return ""
    if callable(value) or type(value).__name__ == "Sentinel":
        return ""
    values = value if isinstance(value, list | tuple) else [value]
    return f"`{' '.join(str(item) for item in values)}`"


if __name__ == "__main__":
    print(reference())
