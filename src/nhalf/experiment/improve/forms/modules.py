"""Module files: in Lua for Lmod, in Tcl for Environment Modules and Lmod."""

import re
from collections.abc import Iterator
from pathlib import Path

from nhalf.experiment.improve.forms import Winner, WinnerForm
from nhalf.mpi.launch_settings import FOR_RANKS

PATHS = ("LD_LIBRARY_PATH", "PATH")
"""Variables to which a module adds folders; what others have in them stays."""
SEPARATOR = ":"
PREPEND = "prepend-path"
LUA_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


class ModuleForm(WinnerForm):
    """A module: it sets variables for the whole shell.

    The plain command has to be the one that is proven, but for a launcher that is found by PATH.
    """

    def problem(self, winner: Winner) -> str:
        """Options of a launcher, and what only one program gets."""
        plain, improved = winner.plain, winner.improved
        inside = [
            name for name in FOR_RANKS if any(w.startswith(f"{name}=") for w in improved.inside)
        ]
        if inside and plain.inside != improved.inside:
            return f"a module would set {inside[0]} for every program, not for this one alone"
        before = (plain.before, plain.options, plain.inside)
        if before != (improved.before, improved.options, improved.inside):
            return "a module does not change the options of the command"
        if plain.launcher != improved.launcher and not _is_found(winner):
            return "a module does not change which launcher the command names"
        return ""


class Lmod(ModuleForm):
    """Winners that are variables."""

    endings = (".lua",)
    needs_ending = True

    def text(self, winner: Winner) -> str:
        """The remarks, and a line for each variable."""
        lines = [*winner.comments("--"), f"whatis({_lua_text(winner.about)})"]
        for action, *words in module_lines(winner):
            lines.append(f"{action.replace('-', '_')}({', '.join(map(_lua_text, words))})")
        return "\n".join([*lines, ""])


class Tcl(ModuleForm):
    """Winners that are variables. Module files in Tcl usually have a name without an ending."""

    endings = (".tcl",)

    def text(self, winner: Winner) -> str:
        """The line by which modules know their files, the remarks, and a line for each variable."""
        # A comment that ends with a backslash would go on in the next line.
        comments = [f"{line}." if line.endswith("\\") else line for line in winner.comments("#")]
        lines = ["#%Module1.0", *comments, f"module-whatis {_tcl_word(winner.about)}"]
        for action, *words in module_lines(winner):
            lines.append(" ".join([action, *map(_tcl_word, words)]))
        return "\n".join([*lines, ""])


def module_lines(winner: Winner) -> Iterator[tuple[str, ...]]:
    """What a module does, in order: sets a variable, takes it away, or puts folders before it."""
    for name in winner.gone:
        yield "unsetenv", name
    if winner.plain.launcher != winner.improved.launcher:
        yield PREPEND, "PATH", str(Path(winner.improved.launcher[0]).parent)
    for name, value in winner.exported.items():
        if name in PATHS:
            yield PREPEND, name, _before(value, winner.plain.environment.get(name))
        else:
            yield "setenv", name, value


def _is_found(winner: Winner) -> bool:
    """Whether the improved launcher takes the plain one's place when its folder is in PATH."""
    plain, improved = winner.plain.launcher, winner.improved.launcher
    is_one = len(plain) == len(improved) == 1
    return is_one and plain[0] == Path(plain[0]).name == Path(improved[0]).name


def _before(value: str, end: str | None) -> str:
    """The folders of a path without those that it ends with."""
    return value.removesuffix(f"{SEPARATOR}{end}") if end else value


def _lua_text(text: str) -> str:
    return f'"{text.translate(LUA_ESCAPES)}"'


def _tcl_word(text: str) -> str:
    """One word of Tcl, whatever is in the text."""
    escaped = re.sub(r"([^\w./:=,+@%-])", r"\\\1", text).replace("\\\n", "\\n")
    return escaped or "{}"
