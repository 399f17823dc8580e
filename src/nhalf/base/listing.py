"""Lists in a line of text."""

from collections.abc import Sequence


def few(names: Sequence[str], most: int, mark: str = ", ") -> str:
    """The first `most` names of a list, with `mark` between, and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return mark.join(names[:most]) + more


def ranks_text(ranks: object) -> str:
    """A number of ranks, or what stands for one: '1 rank', '2 ranks'."""
    return f"{ranks} rank{'s' * (str(ranks) != '1')}"


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them: '8 B', '8 B and 16 B', '8 B, 16 B and 32 B'."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
