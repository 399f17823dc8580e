# SPDX-License-Identifier: Apache-2.0
"""The group of verbs: found by file name, imported when called."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import click
import typer

from nhalf import __version__, plugins
from nhalf.errors import unknown

PACKAGE = "nhalf.cli"
ORDER = ("run", "show", "report", "compare", "fit", "mpi", "doctor")
"""The verbs that help lists first; the others follow in alphabetical order."""


class VerbGroup(click.Group):
    """Knows its verbs from the folder; a module defines `command` or a typer `app`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the verbs, the most used first."""
        names = plugins.names(PACKAGE)
        first = [name for name in ORDER if name in names]
        return first + [name for name in names if name not in first]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The verb, imported now; raises InputError for an unknown one."""
        if cmd_name not in self.list_commands(ctx):
            raise unknown("verb", cmd_name, self.list_commands(ctx))
        return load_verb(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One line per verb, read from its file without importing it."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, _summary(name)) for name in self.list_commands(ctx)])


def load_verb(name: str) -> click.Command:
    """The click command of one verb."""
    module: Any = importlib.import_module(f"{PACKAGE}.{name.replace('-', '_')}")
    app = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(module.command)
    command: click.Command = typer.main.get_command(app)
    command.name = name
    return command


def _summary(name: str) -> str:
    """The first line of the docstring of a verb's `command` function, or of its module."""
    path = Path(__file__).parent / f"{name.replace('-', '_')}.py"
    tree = ast.parse(path.read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "command":
            return (ast.get_docstring(node) or "").split("\n")[0]
    return (ast.get_docstring(tree) or "").split("\n")[0]


def command_line() -> click.Group:
    """The whole command line."""
    group = VerbGroup(
        name="nhalf",
        help="Measure, model and predict the communication performance of parallel computers.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    return click.version_option(__version__, prog_name="nhalf")(group)
