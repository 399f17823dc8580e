"""A module file in Lua, for Lmod."""

from __future__ import annotations

from typing import ClassVar

from nhalf.experiment.improve.forms import (
    ModuleLine,
    Winner,
    WinnerForm,
    module_lines,
    module_problem,
)

WORDS = {"setenv": "setenv", "unsetenv": "unsetenv", "prepend": "prepend_path"}
ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


class Lmod(WinnerForm):
    """Winners that are variables."""

    endings: ClassVar[tuple[str, ...]] = (".lua",)
    needs_ending: ClassVar[bool] = True

    def problem(self, winner: Winner) -> str:
        """Options of a launcher, and what only one program gets."""
        return module_problem(winner)

    def text(self, winner: Winner) -> str:
        """The remarks, and a line for each variable."""
        about = winner.remarks[0] if winner.remarks else "nhalf improve"
        lines = [*winner.comments("--"), f"whatis({_quoted(' '.join(about.split()))})"]
        return "\n".join([*lines, *map(_line, module_lines(winner)), ""])


def _line(line: ModuleLine) -> str:
    words = [line.name] if line.action == "unsetenv" else [line.name, line.value]
    return f"{WORDS[line.action]}({', '.join(map(_quoted, words))})"


def _quoted(text: str) -> str:
    return f'"{text.translate(ESCAPES)}"'
