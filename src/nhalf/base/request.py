"""Requests: frozen dataclasses whose fields carry their own documentation.

The command line is derived from these types, so that a name, a default and its explanation are
written once. A field is an option or a word:

    @dataclass(frozen=True, kw_only=True)
    class Where(Request, heading="Where"):
        hosts: str = option("", "Hosts to measure on: n1,n2 or n[1-4].")

A request that inherits from several has the fields of all, each under the heading of its class.
"""

import dataclasses
import inspect
import types
import typing
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Option:
    """A field given by name: `--hosts n1,n2`.

    `name` is its spelling if it differs from the field's, `least` the smallest number accepted,
    `variable` an environment variable that supplies the value, `heading` a group other than that
    of its class. A number that `is_share` is written '5%' or '0.05'. `former` are spellings that
    are still understood, and shown nowhere.
    """

    help: str
    name: str = ""
    metavar: str = ""
    least: int | None = None
    variable: str = ""
    heading: str = ""
    is_share: bool = False
    former: tuple[str, ...] = ()


@dataclass(frozen=True)
class Word:
    """A positional field; with `takes_remaining`, it takes all remaining arguments."""

    help: str
    metavar: str = ""
    takes_remaining: bool = False


REQUIRED = dataclasses.MISSING
"""The default of a field that has to be given."""


def option(default: Any, help: str, name: str = "", metavar: str = "", **form: Any) -> Any:
    """A field given by name; `form` are further members of `Option`."""
    return _field(default, Option(help, name, metavar, **form))


def word(default: Any, help: str, metavar: str = "", takes_remaining: bool = False) -> Any:
    """A positional field."""
    return _field(default, Word(help, metavar, takes_remaining))


def _field(default: Any, declaration: Option | Word) -> Any:
    return dataclasses.field(default=default, metadata={"declaration": declaration})


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request; `given` are the fields set explicitly."""

    heading: ClassVar[str] = "Options"
    given: frozenset[str] = frozenset()

    def __init_subclass__(cls, heading: str = "", **options: Any) -> None:
        """`heading` applies to the fields that the class itself declares."""
        super().__init_subclass__(**options)
        if heading:
            cls.heading = heading


@dataclass(frozen=True)
class Parameter:
    """A field on the command line: its values are of `kind`, several if `many`."""

    name: str
    declaration: Option | Word
    kind: type
    many: bool
    required: bool
    default: Any
    heading: str

    @property
    def spelling(self) -> str:
        """How the parameter is written on the command line: `--host-file`, `RUN`."""
        if isinstance(self.declaration, Word):
            return self.declaration.metavar or self.name.upper()
        return self.declaration.name or "--" + self.name.rstrip("_").replace("_", "-")


def parameters(kind: type[Request]) -> tuple[Parameter, ...]:
    """All fields that can be given for a request: its own first, then those of its bases."""
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    parameters_by_name: dict[str, Parameter] = {}
    for owner in kind.__mro__:
        for name in inspect.get_annotations(owner):
            declaration = fields[name].metadata.get("declaration") if name in fields else None
            if name in parameters_by_name or declaration is None:
                continue
            heading = getattr(declaration, "heading", "") or getattr(owner, "heading", "")
            parameters_by_name[name] = _parameter(fields[name], hints[name], declaration, heading)
    return tuple(parameters_by_name.values())


def _parameter(
    field: dataclasses.Field[Any], hint: Any, declaration: Option | Word, heading: str
) -> Parameter:
    if isinstance(hint, types.UnionType):  # with None
        (hint,) = (member for member in typing.get_args(hint) if member is not types.NoneType)
    kind, many = hint, False
    if typing.get_origin(hint) is tuple:
        kind, many = typing.get_args(hint)[0], True
    required = field.default is dataclasses.MISSING
    default = None if required else field.default
    return Parameter(field.name, declaration, kind, many, required, default, heading)


def as_words(request: Request, names: Collection[str]) -> list[str]:
    """The options with these names as command-line words, one each."""
    words: list[str] = []
    for parameter in parameters(type(request)):
        spelling = parameter.spelling
        if parameter.name not in names or isinstance(parameter.declaration, Word):
            continue
        value = getattr(request, parameter.name)
        if parameter.kind is bool:
            words.append(spelling if value else spelling.replace("--", "--no-", 1))
        else:
            words += [f"{spelling}={item}" for item in (value if parameter.many else [value])]
    return words
