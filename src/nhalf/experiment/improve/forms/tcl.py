"""A module file in Tcl, for Environment Modules and Lmod."""

import re

from nhalf.experiment.improve.forms import ModuleForm, ModuleLine, Winner, module_lines

WORDS = {"setenv": "setenv", "unsetenv": "unsetenv", "prepend": "prepend-path"}


class Tcl(ModuleForm):
    """Winners that are variables. Module files in Tcl usually have a name without an ending."""

    endings = (".tcl",)

    def text(self, winner: Winner) -> str:
        """The line by which modules know their files, the remarks, and a line for each variable."""
        lines = ["#%Module1.0", *winner.comments("#")]
        lines += [f"module-whatis {_quoted(winner.about)}"]
        return "\n".join([*map(_tame, lines), *map(_line, module_lines(winner)), ""])


def _line(line: ModuleLine) -> str:
    words = [line.name] if line.action == "unsetenv" else [line.name, line.value]
    return " ".join([WORDS[line.action], *map(_quoted, words)])


def _quoted(text: str) -> str:
    """One word of Tcl, whatever is in the text."""
    escaped = re.sub(r"([^\w./:=,+@%-])", r"\\\1", text).replace("\\\n", "\\n")
    return escaped or "{}"


def _tame(line: str) -> str:
    """A comment that ends with a backslash would go on in the next line."""
    return f"{line}." if line.startswith("#") and line.endswith("\\") else line
