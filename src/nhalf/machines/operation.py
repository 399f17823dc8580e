"""Operations that a machine performs in its shared memory, or with one algorithm of messages."""

from typing import Literal

import msgspec

from nhalf.machines.shared import Amount, Evidence, check_rising

IN_MEMORY = ("barrier", "reduce", "alltoall")
"""Operations whose time in a shared memory is modelled (machines/in_memory.py)."""


class OperationMethod(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a machine performs an operation, where its messages alone do not say it.

    In a shared memory, `level_s` is what a level of a tree of flags takes: a rank writes a cache
    line, another one reads it; `operand_Bps` is how fast a rank adds up vectors while all do. With
    `algorithm` the library takes that one, made of messages. Numbers are published or inferred, the
    latter `inferred_from` published points; `why` says how.
    """

    pattern: str
    why: str
    origin: Literal["published", "inferred"] = "inferred"
    algorithm: str = ""
    level_s: Amount | None = None
    operand_Bps: Amount | None = None
    inferred_from: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        check_rising(self.level_s, self.operand_Bps)
        if bool(self.algorithm) == (self.level_s is not None):
            raise ValueError("an operation has either an algorithm or level_s")
        if self.level_s is not None and self.pattern not in IN_MEMORY:
            raise ValueError(f"in a shared memory there are {', '.join(IN_MEMORY)}")
        if (self.operand_Bps is not None) != (self.pattern == "reduce" and not self.algorithm):
            raise ValueError("operand_Bps is what a reduction in a shared memory has")
