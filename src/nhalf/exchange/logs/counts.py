"""Who says how many ranks a table of a log is of: the user, or a launcher's command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from nhalf.base.errors import InputError

Table = tuple[int, int]
"""The first line of a part, and the number of a table in it."""


@dataclass(frozen=True)
class Count:
    """The ranks of a table: what it is called, what the log says (0: nothing), and what holds.

    `line` and `text` are those of the launcher's command.
    """

    name: str
    logged: int
    ranks: int
    line: int = 0
    text: str = ""


@dataclass
class LogCounts:
    """The counts of a log's tables; `user_counts` are the user's: one for all, or one for each."""

    user_counts: Sequence[int] = ()
    tables: dict[Table, Count] = field(default_factory=dict)

    def of(self, table: Table, name: str, logged: int, source: tuple[int, str]) -> int:
        """The ranks of a table, 0 if nobody says; the same whenever it is asked for again."""
        if table not in self.tables:
            self.tables[table] = Count(name, logged, self._ranks(logged), *source)
        return self.tables[table].ranks

    def _ranks(self, logged: int) -> int:
        if len(self.user_counts) == 1:
            return self.user_counts[0]
        place = len(self.silent)
        return logged or (self.user_counts[place] if place < len(self.user_counts) else 0)

    @property
    def silent(self) -> list[Count]:
        """The tables of which the log does not say how many ranks they are of."""
        return [count for count in self.tables.values() if not count.logged]

    def check(self, name: str) -> None:
        """Raise InputError if the user's numbers cannot be those of the tables of log `name`."""
        silent, logged = self.silent, {count.logged for count in self.tables.values()} - {0}
        if len(self.user_counts) > 1 and len(self.user_counts) != len(silent):
            raise InputError(
                f"{name} has {_tables(len(silent))} without a number of ranks, "
                f"and --ranks gives {len(self.user_counts)}",
                "give one number for each of them, in their order",
            )
        if len(self.user_counts) == 1 and len(logged) > 1:
            numbers = " and ".join(map(str, sorted(logged)))
            raise InputError(
                f"{name} says itself that its tables are of {numbers} ranks", "leave out --ranks"
            )
        names = Counter(count.name for count in silent)
        repeated = next((name for name, number in names.items() if number > 1), "")
        if repeated and len(self.user_counts) < 2:
            example = ",".join(
                str(ranks) for ranks in (list(self.user_counts) or [8]) * len(silent)
            )
            raise InputError(
                f"{name} has {_tables(names[repeated])} of {repeated}, and does not say how many "
                "ranks each of them is of",
                f"give a number for each table without one, in their order: --ranks {example}",
            )


def _tables(count: int) -> str:
    return "1 table" if count == 1 else f"{count} tables"
