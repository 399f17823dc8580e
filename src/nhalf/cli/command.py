"""Build a command from a type of request: its options, grouped in its help, and its call."""

import inspect
import shlex
import typing
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from nhalf.base.errors import InputError, UnknownName
from nhalf.base.printable import say
from nhalf.base.request import Option, Parameter, Request, Word, parameters
from nhalf.base.units import parse_share
from nhalf.cli import foreign_names
from nhalf.cli.foreign_names import explained
from nhalf.cli.options import FORMATS, OUTPUT
from nhalf.cli.summaries import split_examples, write_examples
from nhalf.jobs.request import AS_JOB
from nhalf.present.terminal.output import printed_as

Action = Callable[[Any], int | None]
"""The function that executes a request; returns the exit code, None for 0."""
SCHEMA_VERSION = 1
"""Version of all JSON that verbs print (docs/schemas): raised if a member changes or is removed."""
ARGUMENTS, HELP = "Arguments", "Help"
LAST = (OUTPUT, AS_JOB, HELP)
"""The headings that come last, in this order."""
METAVARS = {str: "TEXT", Path: "PATH", int: "NUMBER", float: "NUMBER"}


class Command(click.Command):
    """A command whose help lists its options under the headings of its request, and examples."""

    examples: tuple[str, ...] = ()
    starts_command = False
    schema = ""
    """The schema of its JSON, where the name of the command does not say it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; raises InputError for an option that goes by another name here."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            remedy = self._remedy(error.option_name, words, ctx)
            if not remedy:
                raise
            message = f"{ctx.command_path} has no option {error.option_name}"
            raise InputError(message, remedy) from error

    def _remedy(self, typed: str, words: list[str], ctx: click.Context) -> str:
        """What to write instead of an unknown option; '' if the parser's own guess is best."""
        spellings = {spelling for option in self.get_params(ctx) for spelling in option.opts}
        remedy = foreign_names.remedy(typed, words, spellings)
        if not remedy and self.starts_command and foreign_names.is_of_launcher(typed):
            started = foreign_names.with_launcher(typed, words)
            return f"put the launcher in: {ctx.command_path} {shlex.join(started)}"
        return remedy

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write usage and description, then one section for each heading."""
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
    """The heading of a parameter in help."""
    return getattr(parameter, "heading", HELP)


def in_order(headings: Iterable[str]) -> list[str]:
    """Headings in the order of help: as they come, except for those of `LAST`."""
    return sorted(headings, key=lambda name: 1 + LAST.index(name) if name in LAST else 0)


class RequestOption(click.Option):
    """An option of a request."""

    heading = ""
    former: tuple[str, ...] = ()
    is_share = False

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Accept former spellings as well, which are shown nowhere."""
        shown = self.opts
        self.opts = [*shown, *self.former]
        super().add_to_parser(parser, ctx)
        self.opts = shown

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Show the default of a share as a percentage: 3%."""
        extra = super().get_help_extra(ctx)
        if self.is_share and "default" in extra:
            extra["default"] = f"{100 * float(extra['default']):g}%"
        return extra


class RequestArgument(click.Argument):
    """A positional argument of a request, with an explanation."""

    heading = ARGUMENTS
    help: str | None = None

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """The argument's name and explanation."""
        extra = "  [required]" if self.required else ""
        return self.make_metavar(ctx), f"{self.help}{extra}"

    def make_metavar(self, ctx: click.Context | None = None) -> str:
        """The argument's name, in brackets if it is optional."""
        name = self.metavar or str(self.name).upper()
        several = "..." if self.nargs == -1 and not name.endswith(("...", "…")) else ""
        name = name.strip("[]") + several
        return name if self.required else f"[{name}]"


def command(name: str, action: Action) -> Command:
    """The command that builds a request from its command line and executes it."""
    (hint,) = (kind for key, kind in typing.get_type_hints(action).items() if key != "return")
    request_parameters = parameters(hint)
    takes_rest = any(
        isinstance(parameter.declaration, Word) and parameter.declaration.takes_remaining
        for parameter in request_parameters
    )
    description, examples = split_examples(inspect.cleandoc(action.__doc__ or ""))
    built = Command(
        name,
        params=[_parameter(parameter) for parameter in _words_first(request_parameters)],
        help=description,
        callback=partial(_run_action, hint, action),
        context_settings={"allow_interspersed_args": not takes_rest},
    )
    built.examples = examples
    built.starts_command = takes_rest
    return built


def _words_first(request_parameters: Iterable[Parameter]) -> list[Parameter]:
    return sorted(
        request_parameters, key=lambda parameter: isinstance(parameter.declaration, Option)
    )


def _run_action(kind: type[Request], action: Action, /, **values: Any) -> int | None:
    """Execute the request with these values; those on the command line are explicit."""
    from nhalf.base.compiled import reporting_compilation

    context = click.get_current_context()
    explicit = frozenset(
        name for name in values if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    )
    request = kind(**values, given=explicit)
    is_quiet = getattr(request, "quiet", False)
    with (
        printed_as(getattr(request, "format", "table"), schema_of(context)),
        reporting_compilation(lambda text: None if is_quiet else say(text)),
    ):
        try:
            return action(request)
        except UnknownName as error:
            raise explained(error) from error


def schema_of(context: click.Context) -> str:
    """Name of the schema of a command's JSON: 'machines-list/1' for 'nhalf machines list'."""
    own = getattr(context.command, "schema", "")
    return own or "-".join(context.command_path.split()[1:]) + f"/{SCHEMA_VERSION}"


def _parameter(parameter: Parameter) -> click.Parameter:
    declaration = parameter.declaration
    if isinstance(declaration, Word):
        argument = RequestArgument(
            [parameter.name],
            type=_type(parameter),
            nargs=-1 if parameter.many else 1,
            required=parameter.required,
            metavar=declaration.metavar or None,
            shell_complete=_completion(parameter),
            **_default(parameter),
        )
        argument.help = declaration.help
        return argument
    return _option(parameter, declaration)


def _option(parameter: Parameter, option: Option) -> RequestOption:
    is_flag = parameter.kind is bool
    spelled = parameter.spelling
    if is_flag and parameter.default:
        spelled = f"{spelled}/{spelled.replace('--', '--no-', 1)}"
    built = RequestOption(
        [spelled, parameter.name],
        type=None if is_flag else _type(parameter),
        is_flag=is_flag,
        multiple=parameter.many,
        required=parameter.required,
        help=option.help,
        metavar=_metavar(parameter, option),
        envvar=option.variable or None,
        shell_complete=_completion(parameter),
        show_default=parameter.default not in ("", None, (), False),
        **_default(parameter),
    )
    built.heading = parameter.heading
    built.former, built.is_share = option.former, option.is_share
    return built


def _share(value: str | float) -> float:
    """A fraction from '5%' or '0.05'; defaults are fractions already."""
    return parse_share(value) if isinstance(value, str) else value


def _metavar(parameter: Parameter, option: Option) -> str | None:
    """The placeholder of the value in help; None for a flag."""
    if option.metavar or parameter.kind is bool:
        return option.metavar or None
    return "PERCENT" if option.is_share else METAVARS[parameter.kind]


def _completion(parameter: Parameter) -> Any:
    """The completions offered to the shell for a parameter; None leaves them to its type."""
    words = COMPLETIONS.get(parameter.name)
    if words is None:
        return None
    return lambda context, parameter, prefix: [word for word in words() if word.startswith(prefix)]


def _machines() -> Iterable[str]:
    from nhalf.machines import catalogue

    return catalogue.names()


def _studies() -> Iterable[str]:
    from nhalf.measure.plan import catalogue

    return catalogue.names()


def _published_studies() -> Iterable[str]:
    from nhalf.studies import catalogue

    return catalogue.names()


COMPLETIONS: dict[str, Callable[[], Iterable[str]]] = {
    "machine": _machines,
    "on": _machines,
    "study": _studies,
    "published_study": _published_studies,
    "format": lambda: FORMATS,
    "shell": lambda: ("bash", "zsh", "fish"),
}
"""Functions that list the possible values, by the names of parameters."""


def _default(parameter: Parameter) -> dict[str, Any]:
    """The default as a keyword argument; none if a value is required or may be repeated."""
    return {} if parameter.required or parameter.many else {"default": parameter.default}


def _type(parameter: Parameter) -> Any:
    """The parser of one value."""
    option = parameter.declaration if isinstance(parameter.declaration, Option) else None
    if parameter.kind is int and option and option.least is not None:
        return click.IntRange(min=option.least)
    if option and option.is_share:
        return _share
    return click.Path(path_type=Path) if parameter.kind is Path else parameter.kind
