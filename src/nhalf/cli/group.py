"""The group of verbs: found by file name, imported when called."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from nhalf.base import plugins
from nhalf.base.errors import InputError, Interrupted, UnknownName, how_ended, unknown
from nhalf.base.version import __version__
from nhalf.cli import summaries

if TYPE_CHECKING:
    from nhalf.cli.engines import FormOption


USUAL = {
    **dict.fromkeys(("measure", "bench", "benchmark"), ("run",)),
    **dict.fromkeys(("profile", "record"), ("trace",)),
    **dict.fromkeys(("diff",), ("compare",)),
    **dict.fromkeys(("query",), ("show", "--sql")),
}
"""What other tools call a verb, and what it is called here; shown nowhere."""
FORMER = {
    "completion": ("doctor", "--completion"),
    "estimate": ("predict", "--source"),
    "ledger": ("predict", "--score"),
    "selftest": ("doctor", "--selftest"),
    "simulate": ("predict", "--engine", "simgrid"),
    "sql": ("show", "--sql"),
}
"""Former verbs, and how they are written now; understood for a release, with a hint."""


def current(words: Sequence[str], *, is_silent: bool = False) -> list[str]:
    """A command line with the present name of its verb; a hint names it in place of a former one.

    `words` has one word at least. The hint goes to standard error.
    """
    name, *further = words
    if name in FORMER and not is_silent:
        present = " ".join(("nhalf", *FORMER[name]))
        sys.stderr.write(f"nhalf: the verb {name} is now: {present}\n")
    return [*{**USUAL, **FORMER}.get(name, (name,)), *further]


PACKAGE = "nhalf.cli.verbs"
GROUPS = {
    "measure": "Measure: what does communication cost here?",
    "look": "Look: what was measured, and has it changed?",
    "program": "A program: where does its time go, and what makes it faster?",
    "machine": "Another machine: how fast would it be there?",
    "tune": "Tune: which algorithm should the library take?",
    "setup": "Set up: what can be measured, and what is missing?",
}
"""The headings of help, by the name that the module of a verb assigns to `GROUP`."""
ORDER = (
    *("run", "show", "report", "compare", "check", "gate", "history", "trace", "improve", "why"),
    *("predict", "try", "machines", "doctor", "mpi"),
)
"""The verbs that stand first in their group; the others follow in alphabetical order."""
LIKE_A_VERB = 0.7
"""How much of a verb that is mistyped is right, as difflib counts it."""
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
        if self.examples:
            summaries.write_examples(formatter, self.examples)
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line per command."""
        with formatter.section(self.title):
            formatter.write_dl([(name, self.summary(name)) for name in self.list_commands(ctx)])


class VerbGroup(OrderedGroup):
    """The group of the verbs' modules, which define `command`, or `COMMANDS` by name."""

    examples = (
        "nhalf run --report",
        "nhalf compare runs/monday runs/tuesday",
        "nhalf predict bcast --machine sp2-mpl --ranks 32",
    )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; without words, say what nhalf is and what is here; `help run` is `run --help`."""
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        elif args == ["version"]:
            args = ["--version"]
        if not args and not ctx.resilient_parsing:
            from nhalf.cli.welcome import welcome

            sys.stdout.write(f"{welcome()}\n")
            ctx.exit()
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """The names of the verbs, the most used first."""
        names = plugins.names(PACKAGE)
        first = [name for name in ORDER if name in names]
        return first + [name for name in names if name not in first]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb of a command line, which may go by another name, or a form of it."""
        present = current(args, is_silent=ctx.resilient_parsing)
        name, verb, words = super().resolve_command(ctx, present)
        for form in forms_of(verb):
            if (form_words := form.words_after(words)) is not None:
                return form.title, form.command, form_words
        if name == "predict" and not ctx.resilient_parsing:
            from nhalf.cli.engines import resolved

            return resolved(words, load_verb)
        return name, verb, words

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command:
        """The verb, imported now; raises InputError for an unknown one."""
        if cmd_name not in self.list_commands(ctx):
            raise _unknown_verb(cmd_name, self.list_commands(ctx))
        return load_verb(cmd_name)

    def summary(self, name: str) -> str:
        """The first line of a verb's help, without importing the verb."""
        return summaries.summary("verbs", name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line per verb, below the question that its group answers."""
        names = self.list_commands(ctx)
        width = max(map(len, names))
        groups = {name: summaries.group_of(name) for name in names}
        for group, title in GROUPS.items():
            rows = [
                (f"{name:{width}}", self.summary(name)) for name in names if groups[name] == group
            ]
            formatter.write_paragraph()
            formatter.write(f"{title}\n")
            with formatter.indentation():
                formatter.write_dl(rows)

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


def _unknown_verb(word: str, verbs: Sequence[str]) -> InputError:
    """The error for a word that is no verb, with the command that comes closest."""
    from nhalf.cli.foreign_names import explained

    error = unknown("verb", word, verbs)
    answer = explained(error)
    close = get_close_matches(word.lower(), [*verbs, *USUAL], n=1, cutoff=LIKE_A_VERB)
    if answer is not error or not close:
        return answer
    return UnknownName("verb", word, verbs, f"did you mean {' '.join(current(close))}?")


def load_verb(name: str) -> click.Command:
    """The click command of one verb."""
    from nhalf.cli.command import command
    from nhalf.cli.engines import EngineOption, FormOption

    module: Any = importlib.import_module(f"{PACKAGE}.{plugins.module_name(name)}")
    if not hasattr(module, "COMMANDS"):
        built = command(name, module.command)
        built.params += [FormOption(name, *form) for form in getattr(module, "FORMS", {}).items()]
        if name == "predict":
            built.params.append(EngineOption())
        return built
    below = [command(name, action) for name, action in module.COMMANDS.items()]
    description, examples = summaries.split_examples(module.__doc__ or "")
    group = OrderedGroup(name, below, help=description, no_args_is_help=True)
    group.examples = examples
    return group


def forms_of(verb: click.Command | None) -> list[FormOption]:
    """The options that make another command of a verb."""
    from nhalf.cli.engines import FormOption

    parameters = verb.params if verb else []
    return [parameter for parameter in parameters if isinstance(parameter, FormOption)]


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
        context_settings=HELP,
    )


def _show_version(context: click.Context, parameter: click.Parameter, show: bool) -> None:
    if show:
        sys.stdout.write(f"nhalf {__version__}\n")
        context.exit()
