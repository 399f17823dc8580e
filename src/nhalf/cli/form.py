"""Forms of verbs: an option that turns a verb into another command, as in `nhalf show --sql`.

A verb's module names them in `FORMS`: the option, and the module of `nhalf.cli.forms` that defines
`command`. The words and options of a form are its own; those of the verb do not go with it.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Any

import click

from nhalf.cli import summaries
from nhalf.cli.command import SCHEMA_VERSION, Command, RequestArgument, command

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
