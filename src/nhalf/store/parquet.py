"""Parquet files by their exact names.

Left to itself polars takes a name for a pattern or an address: `[`, `*` and `?` match other files,
`~` is the home folder, `file:` a scheme, and bytes that are no UTF-8 are no name at all.
"""

from collections.abc import Mapping
from pathlib import Path

import polars as pl


def scan(path: Path) -> pl.LazyFrame:
    """The rows of one file, read when they are collected. Raises OSError, PolarsError."""
    name = str(path.absolute())
    try:
        name.encode()
    except UnicodeEncodeError:
        return pl.scan_parquet(path.open("rb"), glob=False)
    # By its name, so that not every one of many runs keeps a file open.
    return pl.scan_parquet(name, glob=False)


def schema(path: Path) -> dict[str, pl.DataType]:
    """The columns of one file. Raises OSError, PolarsError."""
    with path.open("rb") as file:
        return dict(pl.read_parquet_schema(file))


def metadata(path: Path) -> dict[str, str]:
    """The key-value pairs of one file. Raises OSError, PolarsError."""
    with path.open("rb") as file:
        return pl.read_parquet_metadata(file)


def write(frame: pl.DataFrame, path: Path, notes: Mapping[str, str] | None = None) -> None:
    """Write rows, with key-value pairs if any. Raises OSError, PolarsError."""
    with path.open("wb") as file:
        frame.write_parquet(file, metadata=dict(notes or {}))
