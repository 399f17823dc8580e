# SPDX-License-Identifier: Apache-2.0
"""The group of verbs: found by file name, imported when called."""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any

import click

from nhalf.base import plugins
from nhalf.base.errors import Interrupted, how_ended, unknown
from nhalf.base.version import __version__

PACKAGE = "nhalf.cli.verbs"
ORDER = ("run", "show", "report", "compare", "check", "fit", "mpi", "doctor")
"""The verbs that help lists first; the others follow in alphabetical order."""
ALSO_CALLED = {
    **dict.fromkeys(("measure", "bench", "benchmark"), "run"),
    **dict.fromkeys(("profile", "record"), "trace"),
    **dict.fromkeys(("diff",), "compare"),
    **dict.fromkeys(("query",), "sql"),
}
"""Verbs by the names that other tools have for them; shown nowhere."""
SUMMARY = re.compile(r'^def command\(.*\).*:\n    """(.*?)(?:"""|$)', re.MULTILINE)
TITLE = re.compile(r'^"""(.*?)(?:"""|$)', re.MULTILINE)
HELP = {"help_option_names": ["-h", "--help"]}


class OrderedGroup(click.Group):
    """A group whose help has one full line for each command, in their own order."""

    title = "Commands"
    examples: tuple[str, ...] = ()

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """The names of the commands, the most used first."""
        return list(self.commands)

    def summary(self, name: str) -> str:
        """The first line of a command's help."""
        return (self.commands[name].help or "").split("\n")[0]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write examples, commands, and the options last, as in the help of a command."""
        from nhalf.cli.examples import write_examples

        if self.examples:
            write_examples(formatter, self.examples)
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line per command."""
        with formatter.section(self.title):
            formatter.write_dl([(name, self.summary(name)) for name in self.list_commands(ctx)])


class VerbGroup(OrderedGroup):
    """The group of the verbs' modules, which define `command`, or `COMMANDS` by name."""

    title = "Verbs"
    examples = (
        "nhalf run --report",
        "nhalf compare runs/monday runs/tuesday",
        "nhalf predict bcast --machine sp2-mpl --ranks 32",
    )

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """The names of the verbs, the most used first."""
        names = plugins.names(PACKAGE)
        first = [name for name in ORDER if name in names]
        return first + [name for name in names if name not in first]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb of a command line, which may go by another name."""
        return super().resolve_command(ctx, [ALSO_CALLED.get(args[0], args[0]), *args[1:]])

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command:
        """The verb, imported now; raises InputError for an unknown one."""
        if cmd_name not in self.list_commands(ctx):
            raise unknown("verb", cmd_name, self.list_commands(ctx))
        return load_verb(cmd_name)

    def summary(self, name: str) -> str:
        """The first line of the docstring of a verb's `command` function, or of its module.

        It is read as text: to import or to parse all verbs takes as long as everything else.
        """
        path = Path(__file__).parent / "verbs" / f"{plugins.module_name(name)}.py"
        text = path.read_text("utf-8")
        match = SUMMARY.search(text) or TITLE.search(text)
        return match[1] if match else ""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; interruptions pass click as errors, since it would exit silently."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted(how_ended(error)) from error
        except BrokenPipeError:
            # The reader of our output is gone, as after `| head`: no error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def load_verb(name: str) -> click.Command:
    """The click command of one verb."""
    from nhalf.cli.command import command
    from nhalf.cli.examples import split_examples

    module: Any = importlib.import_module(f"{PACKAGE}.{plugins.module_name(name)}")
    if not hasattr(module, "COMMANDS"):
        return command(name, module.command)
    below = [command(name, action) for name, action in module.COMMANDS.items()]
    description, examples = split_examples(module.__doc__ or "")
    group = OrderedGroup(name, below, help=description, no_args_is_help=True)
    group.examples = examples
    return group


def command_line() -> VerbGroup:
    """The whole command line, as click's command object."""
    version = click.Option(
        ["--version"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_show_version,
        help="Show the version and exit.",
    )
    return VerbGroup(
        "nhalf",
        params=[version],
        help="Measure, model and predict the communication performance of parallel computers.",
        no_args_is_help=True,
        context_settings=HELP,
    )


def _show_version(context: click.Context, parameter: click.Parameter, show: bool) -> None:
    if show:
        sys.stdout.write(f"nhalf {__version__}\n")
        context.exit()
