# SPDX-License-Identifier: Apache-2.0
"""Who answers what another machine would do: `nhalf predict --engine model|library|simgrid`.

`model` is `nhalf predict` itself. `library` is what `nhalf run --machine` does with patterns and
`nhalf try` with a program, `simgrid` a command of its own. Each has its own options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import click

from nhalf.base.errors import InputError, unknown
from nhalf.cli.command import SCHEMA_VERSION, Command, command

ENGINES = ("model", "library", "simgrid")
"""The cheapest first."""
OPTION = "--engine"
BY_MODEL = ("beff", "traffic")
"""Studies that the model knows, too."""
HELP = ("--help", "-h")
VERBS = {"model": "predict", "library": "run", "program": "try"}
"""The verbs whose code answers; a program is run by the library."""

Resolved = tuple[str, click.Command, list[str]]


class EngineOption(click.Option):
    """The option as help shows it; `resolved` takes it from a command line before it is parsed."""

    heading = "Who answers"
    title = f"predict {OPTION} simgrid"
    """The engine that has no verb of its own."""

    def __init__(self) -> None:
        """The option of `nhalf predict`."""
        what = (
            "model (milliseconds), library (the installed MPI library, in virtual time; also of a "
            "program: -- ./program) or simgrid (SMPI); default: the first that can. Options of "
            f"another: nhalf predict {OPTION} simgrid --help"
        )
        super().__init__([OPTION], expose_value=False, metavar="ENGINE", help=what)

    @property
    def command(self) -> Command:
        """The command of SimGrid."""
        return command_of("simgrid")


def resolved(words: Sequence[str]) -> Resolved:
    """The command that answers `nhalf predict` with these words: its name, itself, its words.

    Raises InputError for an unknown engine, and for what one cannot do.
    """
    cut = words.index("--") if "--" in words else len(words)
    question, program = list(words[:cut]), list(words[cut:])
    engine = _taken_engine(question)
    asked = engine if engine in ENGINES else "model"
    place = _place_of_subject(question, "program" if program else asked)
    subject = "" if place is None else question[place]
    engine = engine or _cheapest(subject, has_program=bool(program))
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    if program and engine != "library":
        raise InputError(f"{OPTION} {engine} runs no program", f"ask {OPTION} library")
    if Path(subject or "-").exists() and _is_program(subject):
        if engine == "library":
            remedy = f"give the program: {OPTION} library --machine ... -- ./program"
            raise InputError("a library runs a program, not its trace", remedy)
        question += ["--simgrid"] if engine == "simgrid" and "--simgrid" not in question else []
        engine = "model"
    kind = "program" if program else engine
    _check_options(question, engine, kind)
    if kind in ("library", "simgrid") and place is not None:
        question[place : place + 1] = as_pattern(subject)
    if engine == "library" and not any(_is(word, "--machine", *HELP) for word in question):
        raise InputError("on which machine?", "name one: --machine sp2-mpl")
    built = command_of(kind)
    return str(built.name), built, [*question, *program]


def command_of(kind: str) -> Command:
    """The command of an engine, or of programs."""
    if kind == "simgrid":
        from nhalf.cli.forms import simulate

        built = command(EngineOption.title, simulate.command)
        built.schema = f"simulate/{SCHEMA_VERSION}"
        return built
    from nhalf.cli.group import load_verb

    verb = cast(Command, load_verb(VERBS[kind]))
    if kind != "model":
        verb.schema = f"{VERBS[kind]}/{SCHEMA_VERSION}"
        verb.name = f"predict {OPTION} library"
    return verb


def as_pattern(subject: str) -> list[str]:
    """A subject as words of a verb that measures: a study as it is, else `--pattern NAME`."""
    from nhalf.measure.plan import catalogue

    if subject in catalogue.names() or subject.endswith(".toml"):
        return [subject]
    pattern, _, algorithm = subject.partition("/")
    return ["--pattern", pattern, *(["--algorithm", algorithm] if algorithm else [])]


def _cheapest(subject: str, *, has_program: bool) -> str:
    """The engine that answers without --engine: the model knows patterns and traces."""
    from nhalf.measure.plan import catalogue

    if has_program:
        return "library"
    is_study = subject in catalogue.names() and subject not in BY_MODEL
    return "simgrid" if is_study else "model"


def _is_program(subject: str) -> bool:
    from nhalf.cli.programs import is_program

    return is_program(Path(subject))


def _is(word: str, *spellings: str) -> bool:
    """Whether a word is one of the options, with its value or without."""
    return word.partition("=")[0] in spellings


def _taken_engine(words: list[str]) -> str:
    """The value of --engine, which is taken from the words; '' if there is none."""
    for number, word in enumerate(words):
        if _is(word, OPTION):
            spelling, has_value, value = word.partition("=")
            end = number + (1 if has_value else 2)
            value = value if has_value else " ".join(words[number + 1 : end])
            del words[number:end]
            return value or "''"
    return ""


def _spellings(kind: str) -> dict[str, bool]:
    """The options of a command, and whether a value follows."""
    spellings = dict.fromkeys(HELP, False)
    for option in command_of(kind).params:
        if isinstance(option, click.Option):
            every = (*option.opts, *option.secondary_opts, *getattr(option, "former", ()))
            spellings |= dict.fromkeys(every, not option.is_flag)
    return spellings


def _options(words: Sequence[str], spellings: Mapping[str, bool]) -> Iterator[tuple[int, str]]:
    """The places of words that are no values of options."""
    is_value = False
    for place, word in enumerate(words):
        if not is_value:
            yield place, word
        is_value = not is_value and spellings.get(word, False)


def _place_of_subject(words: Sequence[str], kind: str) -> int | None:
    """The place of the first word that is neither an option nor its value."""
    options = _options(words, _spellings(kind))
    return next((place for place, word in options if not word.startswith("-")), None)


def _check_options(words: Sequence[str], engine: str, kind: str) -> None:
    """Raises InputError for an option that another engine has, which it names."""
    own = _spellings(kind)
    for _, word in _options(words, own):
        spelling = word.partition("=")[0]
        if not spelling.startswith("--") or spelling in own:
            continue
        for other in ENGINES:
            if spelling in _spellings(other):
                message = f"{OPTION} {engine} has no option {spelling}"
                raise InputError(message, f"leave it out, or ask {OPTION} {other}, which has it")
