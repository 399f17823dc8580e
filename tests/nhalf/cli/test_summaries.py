"""What help says of verbs that are not imported is what they say themselves."""

from __future__ import annotations

import pytest

from nhalf.base import plugins
from nhalf.cli import engines
from nhalf.cli.group import PACKAGE, load_verb
from nhalf.cli.summaries import summary


@pytest.mark.parametrize("name", plugins.names(PACKAGE))
def test_a_summary_is_the_first_line_of_the_verb_s_help(name: str) -> None:
    line = summary("verbs", name)
    assert line == (load_verb(name).help or "").split("\n")[0]
    assert line.endswith(".")


@pytest.mark.parametrize("module", plugins.names(engines.PACKAGE))
def test_a_summary_is_that_of_the_form(module: str) -> None:
    option = engines.FormOption("verb", "--option", module)
    assert option.help == (option.command.help or "").split("\n")[0]
