# SPDX-License-Identifier: Apache-2.0
"""`nhalf completion`: verbs, options and names completed by the shell."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

from nhalf.base.errors import unknown
from nhalf.base.request import Request as Asked
from nhalf.base.request import Word

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, kw_only=True)
class Request(Asked):
    """For which shell."""

    shell: Annotated[str, Word("bash, zsh or fish.", "SHELL")]


def command(request: Request) -> None:
    """Print a shell completion script for verbs, options, studies and machines.

    nhalf completion bash > ~/.local/share/bash-completion/completions/nhalf
    nhalf completion zsh > ~/.zfunc/_nhalf
    nhalf completion fish > ~/.config/fish/completions/nhalf.fish
    """
    from click.shell_completion import get_completion_class

    from nhalf.cli.group import command_line

    found = get_completion_class(request.shell) if request.shell in SHELLS else None
    if found is None:
        raise unknown("shell", request.shell, SHELLS)
    # The check of bash's version would start a shell: it is the user's who asks.
    made = found(command_line(), {}, "nhalf", "_NHALF_COMPLETE")
    sys.stdout.write(made.source_template % made.source_vars())
