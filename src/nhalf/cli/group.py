# SPDX-License-Identifier: Apache-2.0
"""The group of verbs: found by file name, imported when called."""

from __future__ import annotations

import ast
import importlib
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from nhalf.base import plugins
from nhalf.base.errors import Interrupted, unknown
from nhalf.base.version import __version__

PACKAGE = "nhalf.cli.verbs"
ORDER = ("run", "show", "report", "compare", "check", "fit", "mpi", "doctor")
"""The verbs that help lists first; the others follow in alphabetical order."""


class VerbGroup(TyperGroup):
    """Knows its verbs from the folder; a module defines `command` or a typer `app`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the verbs, the most used first."""
        names = plugins.names(PACKAGE)
        first = [name for name in ORDER if name in names]
        return first + [name for name in names if name not in first]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb, imported now; raises InputError for an unknown one."""
        if cmd_name not in self.list_commands(ctx):
            raise unknown("verb", cmd_name, self.list_commands(ctx))
        return load_verb(cmd_name)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; interruptions pass typer as errors, since it would end without a word."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted("interrupted") from error
        except BrokenPipeError:
            # The reader of our output went away, as `| head` does: nothing is wrong.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """One line per verb, read from its file without importing it."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, _summary(name)) for name in self.list_commands(ctx)])


def load_verb(name: str) -> Any:
    """The click command of one verb."""
    module: Any = importlib.import_module(f"{PACKAGE}.{plugins.module_name(name)}")
    app = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(module.command)
    command = typer.main.get_command(app)
    command.name = name
    return command


def _summary(name: str) -> str:
    """The first line of the docstring of a verb's `command` function, or of its module."""
    path = Path(__file__).parent / "verbs" / f"{plugins.module_name(name)}.py"
    tree = ast.parse(path.read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "command":
            return (ast.get_docstring(node) or "").split("\n")[0]
    return (ast.get_docstring(tree) or "").split("\n")[0]


def command_line() -> Any:
    """The whole command line, as typer's command object."""
    app = typer.Typer(
        cls=VerbGroup,
        name="nhalf",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_nhalf)
    return typer.main.get_command(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"nhalf {__version__}\n")
        raise typer.Exit


def _nhalf(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Measure, model and predict the communication performance of parallel computers."""
