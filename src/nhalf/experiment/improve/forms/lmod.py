"""A module file in Lua, for Lmod."""

from nhalf.experiment.improve.forms import ModuleForm, ModuleLine, Winner, module_lines

WORDS = {"setenv": "setenv", "unsetenv": "unsetenv", "prepend": "prepend_path"}
ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


class Lmod(ModuleForm):
    """Winners that are variables."""

    endings = (".lua",)
    needs_ending = True

    def text(self, winner: Winner) -> str:
        """The remarks, and a line for each variable."""
        lines = [*winner.comments("--"), f"whatis({_quoted(winner.about)})"]
        return "\n".join([*lines, *map(_line, module_lines(winner)), ""])


def _line(line: ModuleLine) -> str:
    words = [line.name] if line.action == "unsetenv" else [line.name, line.value]
    return f"{WORDS[line.action]}({', '.join(map(_quoted, words))})"


def _quoted(text: str) -> str:
    return f'"{text.translate(ESCAPES)}"'
