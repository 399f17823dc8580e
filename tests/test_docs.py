# SPDX-License-Identifier: Apache-2.0
"""The documentation says what the program does: complete, and only names what exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import command_reference
import docs_hooks
from nhalf import plugins

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = dict(command_reference.commands(command_reference.root()))


def test_the_reference_names_every_verb_and_every_option() -> None:
    reference = command_reference.reference()
    assert len(COMMANDS) > 5
    for verb in plugins.names("nhalf.cli"):
        assert f"## nhalf {verb}\n" in reference
    for name, command in COMMANDS.items():
        section = reference.split(f"## {name}\n")[1].split("\n## ")[0]
        assert f"    {name} " in section
        for parameter in command_reference.parameters(command):
            assert f"`{command_reference.spelled(parameter)}`" in section


def test_every_command_and_every_parameter_is_explained() -> None:
    silent = [name for name, command in COMMANDS.items() if not (command.help or "").strip()]
    silent += [
        f"{name} {command_reference.spelled(parameter)}"
        for name, command in COMMANDS.items()
        for parameter in command_reference.parameters(command)
        if not getattr(parameter, "help", None)
    ]
    assert silent == []


def command_lines(text: str) -> list[str]:
    """The lines of code blocks that call nhalf, up to a comment or to another command."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^    (.*)$", text, re.MULTILINE)
    spans = re.findall(r"`(nhalf [a-z][^`]*)`", text)
    code = "\n".join([*fenced, *indented, *spans])
    lines = re.findall(r"^(?:\$ )?(nhalf [a-z].*)$", code, re.MULTILINE)
    alone = [re.split(r"\s+(?:#|&&|\|\||>|\|)\s*", line)[0] for line in lines]
    # `nhalf lab exec -- COMMAND` is two commands, of which the second may be one of ours.
    parts = [part for line in alone for part in line.split(" -- ")]
    return [part for part in parts if part.startswith("nhalf ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_prose_exist_with_the_options_they_are_given(page: Path) -> None:
    for line in command_lines(page.read_text(encoding="utf-8")):
        words = shlex.split(line)
        name = " ".join(words[:3]) if " ".join(words[:3]) in COMMANDS else " ".join(words[:2])
        assert name in COMMANDS, f"{page.name}: {line}"
        known = {"--help", "--json"}
        for parameter in COMMANDS[name].params:
            known.update([*parameter.opts, *parameter.secondary_opts])
        used = {word.split("=")[0] for word in words if word.startswith("--")}
        assert used <= known, f"{page.name}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_in_prose_exist(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^    |`)make ([a-z-]+)", page.read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: make {target}"


@pytest.mark.parametrize("mark", sorted(docs_hooks.FILLED))
def test_what_the_program_fills_in_is_used_and_not_empty(mark: str) -> None:
    assert any(f"<!-- nhalf:{mark} -->" in page.read_text(encoding="utf-8") for page in PAGES)
    assert docs_hooks.FILLED[mark]().strip()


def test_a_mark_that_is_not_known_stops_the_build() -> None:
    with pytest.raises(KeyError):
        docs_hooks.fill("text\n\n<!-- nhalf:nonsense -->\n")


def test_python_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of the notebook page, in order, in one namespace, as a reader would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    namespace: dict[str, object] = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"docs/python.md, block {number}", "exec"), namespace)
