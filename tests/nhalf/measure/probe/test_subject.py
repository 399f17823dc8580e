"""Several processes answer in turn as one would."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import pytest

from nhalf.measure.probe.process import LaunchError
from nhalf.measure.probe.subject import Crew


class Member:
    """Answers what it was asked, with its own name."""

    def __init__(self, name: str) -> None:
        self.launch: dict[str, Any] = {"of": name}
        self.name, self.asked, self.ended = name, list[str](), ""

    def send(self, line: str) -> None:
        self.asked.append(line)

    def receive(self, timeout_s: float, kind: str = "", identity: str = "") -> dict[str, Any]:
        return {"by": self.name, "id": identity, "of": self.asked.pop(0)}

    def kill(self) -> None:
        self.ended = "killed"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ended = self.ended or ("failed" if kind else "ended")


def test_questions_are_dealt_in_turn_and_answered_in_their_order() -> None:
    members = [Member("a"), Member("b")]
    waiting = iter(members)
    with Crew(lambda: next(waiting), 2) as crew:
        assert crew.launch == {"of": "a"}
        crew.send("one")
        crew.send("two")
        answers = [crew.receive(1.0, identity="1")]
        crew.send("three")
        answers += [crew.receive(1.0, identity=number) for number in "23"]
    assert [(each["by"], each["of"]) for each in answers] == [
        ("a", "one"),
        ("b", "two"),
        ("a", "three"),
    ]
    assert [member.ended for member in members] == ["ended", "ended"]


def test_all_end_where_one_does_not_come_up_or_fails() -> None:
    first = Member("a")

    def start(started: list[int] = []) -> Member:  # noqa: B006 (counts the calls)
        started.append(1)
        if len(started) == 2:
            raise LaunchError("no memory")
        return first

    with pytest.raises(LaunchError, match="no memory"):
        Crew(start, 2)
    assert first.ended == "failed"
    members = [Member("a"), Member("b")]
    waiting = iter(members)
    with pytest.raises(LaunchError, match="died"), Crew(lambda: next(waiting), 2):
        raise LaunchError("died")
    assert [member.ended for member in members] == ["failed", "failed"]
    waiting = iter(members)
    Crew(lambda: next(waiting), 2).kill()
    assert [member.ended for member in members] == ["killed", "killed"]
