"""Where output goes and in which form: results on standard output, remarks on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from nhalf.base.printable import CONTROL, PrintableSegments, printable_parts

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from nhalf.store.run import Run

UNLIMITED = 10_000
"""More columns than any table needs."""
FORM: ContextVar[str] = ContextVar("form", default="table")
"""How tables are printed; tables in its own form are made by forms.py."""
SCHEMA: ContextVar[str] = ContextVar("schema", default="")
"""Which published schema (docs/schemas) JSON on standard output follows: 'history/1'."""
WRONG_DATA: ContextVar[Sequence[dict[str, Any]]] = ContextVar("wrong_data", default=())
"""What JSON on standard output names first: points whose data arrived wrong."""
ENGINE: ContextVar[str] = ContextVar("engine", default="")
"""Who answers what would be on another machine, which JSON on standard output names."""


@contextmanager
def answered_by(engine: str, *, is_named: bool) -> Iterator[None]:
    """Name the engine that answers: in JSON printed inside the block, and below its tables."""
    token = ENGINE.set(engine)
    try:
        yield
        if is_named:
            name_engine(engine)
    finally:
        ENGINE.reset(token)


def name_engine(engine: str) -> None:
    """Name the engine that answered, below a table."""
    if FORM.get() == "table":
        stdout_console().print(f"answered by: {engine}", style="dim")


@contextmanager
def printed_as(form: str, schema: str) -> Iterator[None]:
    """Print tables in this form, and JSON with this schema, inside the block."""
    tokens = FORM.set(form), SCHEMA.set(schema), WRONG_DATA.set(())
    try:
        yield
    finally:
        FORM.reset(tokens[0])
        SCHEMA.reset(tokens[1])
        WRONG_DATA.reset(tokens[2])


def emit_json(result: dict[str, Any]) -> None:
    """Print one JSON object to standard output; NaN and infinities become null."""
    import msgspec

    header = {"schema": SCHEMA.get()} if SCHEMA.get() else {}
    wrong = {"wrong_data": WRONG_DATA.get()} if WRONG_DATA.get() else {}
    engine = {"engine": ENGINE.get()} if ENGINE.get() else {}
    content: Any = {**header, **wrong, **result, **engine, **header}
    try:
        text = msgspec.json.encode(content, enc_hook=_plain)
    except UnicodeEncodeError:  # the name of a file need not be text
        content = printable_parts(msgspec.to_builtins(content, enc_hook=_plain))
        text = msgspec.json.encode(content)
    # Control characters from 127 on stand in JSON as they are.
    escaped = CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text.decode())
    sys.stdout.write(f"{escaped}\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    """The Python number of a number of NumPy, whose kind is not that of a Python number."""
    import numpy as np

    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"{type(value).__name__} is nothing that JSON has")


def console() -> Console:
    """A console on standard error."""
    return _console(stderr=True)


def stdout_console() -> Console:
    """A console on standard output, as wide as COLUMNS says or its terminal is.

    In a pipe nothing is cut or wrapped.
    """
    if FORM.get() != "table":
        from nhalf.present.terminal.forms import formed_console

        return formed_console(FORM.get())
    plain = _console()
    if plain.is_terminal or os.environ.get("COLUMNS", "").isdecimal():
        return plain
    return _console(width=UNLIMITED)


def print_lines(screen: Console, *lines: str, style: str | None = None) -> None:
    """Print lines as they are, without markup; a terminal divides those that are longer."""
    for line in lines:
        screen.print(line, markup=False, soft_wrap=True, style=style)


def show_place(run: Run, report: Path | None) -> None:
    """Print the paths of a run and of its report."""
    lines = [f"\nrun     {run.path}", *([] if report is None else [f"report  {report}"])]
    print_lines(stdout_console(), *lines)


def _console(**choices: Any) -> Console:
    """Make a console that raises BrokenPipeError to the caller."""
    from rich.console import Console

    class Plain(PrintableSegments, Console):
        def print(self, *objects: Any, **choices: Any) -> None:
            width = choices.get("width", self.width)
            if len(objects) != 1 or isinstance(objects[0], str) or width >= UNLIMITED:
                super().print(*objects, **choices)
            else:
                from nhalf.present.terminal.forms import print_fitted

                print_fitted(objects[0], partial(super().print, **choices), width)

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    # Texts of files, names and places are printed as they are: `:100:` is not a symbol.
    return Plain(highlight=False, emoji=False, **choices)
