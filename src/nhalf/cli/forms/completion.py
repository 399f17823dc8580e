"""`nhalf doctor --completion`: shell completion of verbs, options and names."""

import sys
from dataclasses import dataclass

from click.shell_completion import get_completion_class

from nhalf.base.errors import unknown
from nhalf.base.request import REQUIRED, word
from nhalf.base.request import Request as BaseRequest
from nhalf.cli.group import command_line

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, kw_only=True)
class Request(BaseRequest):
    """The shell whose script is printed."""

    shell: str = word(REQUIRED, "bash, zsh or fish.", "SHELL")


def command(request: Request) -> None:
    """Print the completion script of a shell: verbs, options, studies and machines.

    nhalf doctor --completion bash > ~/.local/share/bash-completion/completions/nhalf
    nhalf doctor --completion zsh > ~/.zfunc/_nhalf
    nhalf doctor --completion fish > ~/.config/fish/completions/nhalf.fish
    """
    completion_class = get_completion_class(request.shell) if request.shell in SHELLS else None
    if completion_class is None:
        raise unknown("shell", request.shell, SHELLS)
    # Skip click's check of bash's version, which would start a shell.
    completion = completion_class(command_line(), {}, "nhalf", "_NHALF_COMPLETE")
    sys.stdout.write(completion.source_template % completion.source_vars())
