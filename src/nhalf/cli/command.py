# SPDX-License-Identifier: Apache-2.0
"""From a type of request to a command: its options, grouped in its help, and its call."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from nhalf.base.request import Option, Parameter, Request, Word, parameters
from nhalf.base.units import parse_share
from nhalf.cli.examples import parted, write_examples
from nhalf.cli.options import FORMATS, OUTPUT
from nhalf.jobs.request import AS_JOB

Act = Callable[[Any], int | None]
"""What a command does with its request; returns the exit code, none for 0."""


SCHEMA_VERSION = 1
"""Of all JSON that verbs print (docs/schemas): raised where a member changes or goes."""
ARGUMENTS, HELP = "Arguments", "Help"
LAST = (OUTPUT, AS_JOB, HELP)
"""The headings that come last, in this order."""
METAVARS = {str: "TEXT", Path: "PATH", int: "NUMBER", float: "NUMBER"}


class Command(click.Command):
    """A command whose help lists its options under the headings of its request, and examples."""

    examples: tuple[str, ...] = ()

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Usage, what it does, then one section for each heading."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        if self.examples:
            write_examples(formatter, self.examples)
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(heading_of(parameter), []).append(record)
        for heading in in_order(sections):
            with formatter.section(heading):
                formatter.write_dl(sections[heading])


def heading_of(parameter: click.Parameter) -> str:
    """Under which heading a parameter stands in help."""
    return getattr(parameter, "heading", HELP)


def in_order(headings: Iterable[str]) -> list[str]:
    """Headings as help has them: as they come, but for those that come last."""
    return sorted(headings, key=lambda name: 1 + LAST.index(name) if name in LAST else 0)


class Choice(click.Option):
    """An option of a request."""

    heading = ""
    former: tuple[str, ...] = ()
    is_share = False

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Former spellings are understood, and shown nowhere."""
        shown = self.opts
        self.opts = [*shown, *self.former]
        super().add_to_parser(parser, ctx)
        self.opts = shown

    def get_help_extra(self, ctx: click.Context) -> Any:
        """A share is shown as it is written: 3%."""
        extra = super().get_help_extra(ctx)
        if self.is_share and "default" in extra:
            extra["default"] = f"{100 * float(extra['default']):g}%"
        return extra


class Place(click.Argument):
    """A word of a request; it is explained, too."""

    heading = ARGUMENTS
    help: str | None = None

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Its name and its explanation."""
        extra = "  [required]" if self.required else ""
        return self.make_metavar(ctx), f"{self.help}{extra}"

    def make_metavar(self, ctx: click.Context | None = None) -> str:
        """Its name, in brackets where it may be left out."""
        name = self.metavar or str(self.name).upper()
        several = "..." if self.nargs == -1 and not name.endswith(("...", "…")) else ""
        name = name.strip("[]") + several
        return name if self.required else f"[{name}]"


def command(name: str, act: Act) -> Command:
    """The command that makes a request of its words and acts on it."""
    (hint,) = (kind for key, kind in typing.get_type_hints(act).items() if key != "return")
    request_parameters = parameters(hint)
    takes_rest = any(
        isinstance(parameter.declaration, Word) and parameter.declaration.takes_remaining for parameter in request_parameters
    )
    description, examples = parted(inspect.cleandoc(act.__doc__ or ""))
    built = Command(
        name,
        params=[_parameter(parameter) for parameter in _words_first(request_parameters)],
        help=description,
        callback=partial(_called, hint, act),
        context_settings={"allow_interspersed_args": not takes_rest},
    )
    built.examples = examples
    return built


def _words_first(request_parameters: Iterable[Parameter]) -> list[Parameter]:
    return sorted(request_parameters, key=lambda parameter: isinstance(parameter.declaration, Option))


def _called(kind: type[Request], act: Act, /, **values: Any) -> int | None:
    """Act on the request of these values; what stands on the command line is given."""
    from nhalf.present.terminal.output import printed_as

    context = click.get_current_context()
    explicit = frozenset(
        name for name in values if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    )
    request = kind(**values, given=explicit)
    with printed_as(getattr(request, "format", "table"), schema_of(context.command_path)):
        return act(request)


def schema_of(command_path: str) -> str:
    """Which schema the JSON of 'nhalf machines list' follows: 'machines-list/1'."""
    return "-".join(command_path.split()[1:]) + f"/{SCHEMA_VERSION}"


def _parameter(parameter: Parameter) -> click.Parameter:
    return (
        _place(parameter, parameter.declaration)
        if isinstance(parameter.declaration, Word)
        else _choice(parameter, parameter.declaration)
    )


def _place(parameter: Parameter, word: Word) -> Place:
    argument = Place(
        [parameter.name],
        type=_type(parameter),
        nargs=-1 if parameter.many else 1,
        required=parameter.required,
        metavar=word.metavar or None,
        shell_complete=_completed(parameter),
        **_default(parameter),
    )
    argument.help = word.help
    return argument


def _choice(parameter: Parameter, option: Option) -> Choice:
    is_flag = parameter.kind is bool
    spelled = parameter.spelling
    if is_flag and parameter.default:
        spelled = f"{spelled}/{spelled.replace('--', '--no-', 1)}"
    choice = Choice(
        [spelled, parameter.name],
        type=None if is_flag else _type(parameter),
        is_flag=is_flag,
        multiple=parameter.many,
        required=parameter.required,
        help=option.help,
        metavar=_metavar(parameter, option),
        envvar=option.variable or None,
        shell_complete=_completed(parameter),
        show_default=parameter.default not in ("", None, (), False),
        **_default(parameter),
    )
    choice.heading, choice.former, choice.is_share = parameter.heading, option.former, option.is_share
    return choice


def _share(value: str | float) -> float:
    """A fraction from '5%' or '0.05'; defaults are fractions already."""
    return parse_share(value) if isinstance(value, str) else value


def _metavar(parameter: Parameter, option: Option) -> str | None:
    """What stands for the value in help; None for a flag."""
    if option.metavar or parameter.kind is bool:
        return option.metavar or None
    return "PERCENT" if option.is_share else METAVARS[parameter.kind]


def _completed(parameter: Parameter) -> Any:
    """The completions offered to the shell for a word; None leaves them to its type."""
    if parameter.name not in COMPLETED:
        return None
    return lambda context, parameter, begun: [
        word for word in COMPLETED[parameter.name]() if word.startswith(begun)
    ]


def _machines() -> Iterable[str]:
    from nhalf.machines import catalogue

    return catalogue.names()


def _studies() -> Iterable[str]:
    from nhalf.measure.plan import catalogue

    return catalogue.names()


COMPLETED: dict[str, Callable[[], Iterable[str]]] = {
    "machine": _machines,
    "study": _studies,
    "format": lambda: FORMATS,
    "shell": lambda: ("bash", "zsh", "fish"),
}
"""Parameters by name, and the words they may be."""


def _default(parameter: Parameter) -> dict[str, Any]:
    """None of its own where there has to be a value, or where several are none."""
    return {} if parameter.required or parameter.many else {"default": parameter.default}


def _type(parameter: Parameter) -> Any:
    """The parser of one value."""
    if (
        parameter.kind is int
        and isinstance(parameter.declaration, Option)
        and parameter.declaration.least is not None
    ):
        return click.IntRange(min=parameter.declaration.least)
    if isinstance(parameter.declaration, Option) and parameter.declaration.is_share:
        return _share
    if parameter.kind is Path:
        return click.Path(path_type=Path)
    return parameter.kind
