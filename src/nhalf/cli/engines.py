"""Who answers what another machine would do: `nhalf predict --engine model|library|simgrid`.

`model` is `nhalf predict` itself. `library` is what `nhalf run --machine` does with patterns and
`nhalf try` with a program, `simgrid` what used to be `nhalf simulate`. Each has its own options.

These and the forms of verbs turn a verb into another command, as in `nhalf show --sql`. A verb's
module names its forms in `FORMS`: the option, and the module of `nhalf.cli.forms` that defines
`command`. The words and options of a form are its own; those of the verb do not go with it.
"""

import functools
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

import click

from nhalf.base.errors import InputError, unknown
from nhalf.cli import summaries
from nhalf.cli.command import SCHEMA_VERSION, Command, RequestArgument, command
from nhalf.cli.sides import is_program
from nhalf.decide.engine_names import ENGINES

OPTION = "--engine"
ALGORITHM, ALL = "--algorithm", "all"
BY_MODEL = ("beff", "traffic")
"""Studies that the model knows, too."""
BY_SOURCE, SOURCE_ENDING = ("--source", "estimate"), ".c"
"""The form that reads a program's source, and how such a file is recognised without the option."""
HELP = ("--help", "-h")
ALIKE = 0.85
"""How much of a name that is mistyped is right, as difflib counts it."""
PROGRAM = "program"
VERBS = {"model": "predict", "library": "run", PROGRAM: "try"}
"""The verbs whose code answers; a program is run by the library."""
Load = Callable[[str], click.Command]
"""Returns the command of a verb."""


class EngineOption(click.Option):
    """The option as help shows it; `resolved` takes it from a command line before it is parsed."""

    heading = "Who answers"
    title = f"predict {OPTION} simgrid"
    """The engine that has no verb."""

    def __init__(self) -> None:
        """The option of `nhalf predict`."""
        purpose = (
            "model (milliseconds), library (the installed MPI library, in virtual time; also of a "
            "program: -- ./program) or simgrid (SMPI); default: the first that can. Options of "
            f"another: nhalf predict {OPTION} simgrid --help"
        )
        super().__init__([OPTION], expose_value=False, metavar="ENGINE", help=purpose)

    @property
    def command(self) -> Command:
        """The command of SimGrid."""
        from nhalf.cli.forms import simulate

        built = command(self.title, simulate.command)
        built.schema = f"simulate/{SCHEMA_VERSION}"
        return built


def resolved(words: Sequence[str], load: Load) -> tuple[str, Command, list[str]]:
    """The command that answers `nhalf predict` with these words: its name, itself, its words.

    Raises InputError for an unknown engine, and for what one cannot do.
    """
    cut = words.index("--") if "--" in words else len(words)
    question, program = list(words[:cut]), list(words[cut:])
    if any(word.endswith(SOURCE_ENDING) for word in question):
        by_source = FormOption(VERBS["model"], *BY_SOURCE)
        at = _place_of_subject(question, by_source.command, command_of(ENGINES[0], load))
        if at is not None and question[at].endswith(SOURCE_ENDING):
            return by_source.title, by_source.command, list(words)
    engine = _taken_engine(question)
    place = _place_of_subject(question, command_of(engine or ENGINES[0], load))
    subject = "" if place is None else question[place]
    engine = engine or _cheapest(subject, has_program=bool(program))
    if program and engine != "library":
        raise InputError(f"{OPTION} {engine} runs no program", f"ask {OPTION} library")
    if subject and Path(subject).exists() and is_program(Path(subject)):
        if engine == "library":
            remedy = f"give the program: {OPTION} library --machine ... -- ./program"
            raise InputError("a library runs a program, not its trace", remedy)
        question += ["--simgrid"] if engine == "simgrid" and "--simgrid" not in question else []
        engine = "model"
    elif engine != "model" and place is not None:
        question[place : place + 1] = as_pattern(subject)
    if engine == "model" and place is not None:
        question = _with_algorithm(question, place)
    built = command_of(PROGRAM if program else engine, load)
    _check_options(question, engine, built, load)
    if engine == "library" and not any(_is(word, "--machine", *HELP) for word in question):
        raise InputError("on which machine?", "name one: --machine sp2-mpl")
    return str(built.name), built, [*question, *program]


def command_of(kind: str, load: Load) -> Command:
    """The command of an engine, or of programs."""
    if kind == "simgrid":
        return EngineOption().command
    if kind not in VERBS:
        raise unknown("engine", kind, ENGINES)
    verb = cast(Command, load(VERBS[kind]))
    if kind != "model":
        verb.schema = f"{VERBS[kind]}/{SCHEMA_VERSION}"
        verb.name = f"predict {OPTION} library"
    return verb


def as_pattern(subject: str) -> list[str]:
    """A subject as words of a verb that measures: a study as it is, else `--pattern NAME`.

    A name much like that of a study is taken for one, so that its remedy is of studies.
    """
    from nhalf.measure.plan import catalogue

    if subject.endswith(".toml") or get_close_matches(subject, catalogue.names(), cutoff=ALIKE):
        return [subject]
    pattern, _, algorithm = subject.partition("/")
    return ["--pattern", pattern, *(["--algorithm", algorithm] if algorithm else [])]


def _with_algorithm(words: Sequence[str], place: int) -> list[str]:
    """Words for the model, which takes an algorithm with its operation: bcast/linear.

    Raises InputError for several algorithms: it tells all of them, or one.
    """
    cut = next((number for number, word in enumerate(words) if _is(word, ALGORITHM)), None)
    if cut is None or "/" in words[place]:
        return list(words)
    _, has_value, value = words[cut].partition("=")
    end = cut + (1 if has_value else 2)
    algorithm = value if has_value else "".join(words[cut + 1 : end])
    if not algorithm or "," in algorithm:
        remedy = f"name one algorithm, or leave {ALGORITHM} out"
        raise InputError(f"{ALGORITHM} '{algorithm}' is not one algorithm", remedy)
    subject = words[place] if algorithm == ALL else f"{words[place]}/{algorithm}"
    changed = [*words[:place], subject, *words[place + 1 :]]
    return changed[:cut] + changed[end:]


def _cheapest(subject: str, *, has_program: bool) -> str:
    """The engine that answers without --engine: the model knows patterns and traces."""
    if has_program:
        return "library"
    if not subject:
        return ENGINES[0]
    from nhalf.measure.plan import catalogue

    is_study = subject in catalogue.names() and subject not in BY_MODEL
    return "simgrid" if is_study else "model"


def _is(word: str, *spellings: str) -> bool:
    """Whether a word is one of the options, with its value or without."""
    return word.partition("=")[0] in spellings


def _taken_engine(words: list[str]) -> str:
    """The value of --engine, which is taken from the words; '' if there is none."""
    for number, word in enumerate(words):
        if _is(word, OPTION):
            _, has_value, value = word.partition("=")
            end = number + (1 if has_value else 2)
            engine = value if has_value else "".join(words[number + 1 : end])
            del words[number:end]
            return engine or "''"
    return ""


def _spellings(built: Command) -> dict[str, bool]:
    """The options of a command, and whether a value follows."""
    spellings = dict.fromkeys(HELP, False)
    for option in built.params:
        if isinstance(option, click.Option):
            names = (*option.opts, *option.secondary_opts, *getattr(option, "former", ()))
            spellings |= dict.fromkeys(names, not option.is_flag)
    return spellings


def _not_values(words: Sequence[str], spellings: Mapping[str, bool]) -> Iterator[tuple[int, str]]:
    """The places of words that are no values of options, with the words."""
    is_value = False
    for place, word in enumerate(words):
        if not is_value:
            yield place, word
        is_value = not is_value and spellings.get(word, False)


def _place_of_subject(words: Sequence[str], *commands: Command) -> int | None:
    """The place of the first word that is neither an option of the commands nor its value."""
    spellings: dict[str, bool] = {}
    for built in commands:
        spellings |= _spellings(built)
    free = _not_values(words, spellings)
    return next((place for place, word in free if not word.startswith("-")), None)


def _check_options(words: Sequence[str], engine: str, built: Command, load: Load) -> None:
    """Raises InputError for an option that another engine has, which it names."""
    own = _spellings(built)
    for _, word in _not_values(words, own):
        spelling = word.partition("=")[0]
        if not spelling.startswith("--") or spelling in own:
            continue
        for further in ENGINES:
            if spelling in _spellings(command_of(further, load)):
                message = f"{OPTION} {engine} has no option {spelling}"
                raise InputError(message, f"leave it out, or ask {OPTION} {further}, which has it")


PACKAGE = "nhalf.cli.forms"


class FormOption(click.Option):
    """The option that makes another command of a verb: shown in the verb's help, never parsed."""

    heading = "Another question"

    def __init__(self, verb: str, spelling: str, module: str) -> None:
        """The form `spelling` of a verb, by `command` of a module of `nhalf.cli.forms`."""
        summary = summaries.summary("forms", module)
        super().__init__([spelling], is_flag=True, expose_value=False, help=summary)
        self.title = f"{verb} {spelling}"
        """The form as it is written after `nhalf`."""
        self._spelling, self._module = spelling, module

    @functools.cached_property
    def command(self) -> Command:
        """The command of the form, imported now."""
        module: Any = importlib.import_module(f"{PACKAGE}.{self._module}")
        built = command(self.title, module.command)
        built.schema = f"{self._module}/{SCHEMA_VERSION}"
        return built

    def words_after(self, words: Sequence[str]) -> list[str] | None:
        """The words of a command line for the form's command; None if it does not have the option.

        What follows the option comes first: `show runs/today --sql QUERY` is as
        `show --sql QUERY runs/today`.
        """
        for number, word in enumerate(words):
            spelling, has_value, value = word.partition("=")
            if word == "--":
                return None
            if spelling == self._spelling:
                return [*([value] if has_value else []), *words[number + 1 :], *words[:number]]
        return None

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """The option with the words that go with it, and what the form is for."""
        words = [
            parameter.make_metavar(ctx)
            for parameter in self.command.params
            if isinstance(parameter, RequestArgument)
        ]
        usage = " ".join([self._spelling, *words])
        return usage, f"{self.help} Its options: nhalf {self.title} --help"
