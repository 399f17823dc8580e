"""What a number of a machine file was inferred from."""

import msgspec


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published point that a number was inferred from, by the record that has it."""

    machine: str
    pattern: str
    ranks: int = 2
    size_bytes: int | None = None
    axes: str = ""
