"""The named scalars of a point, in the column `values`."""

import polars as pl


def value(name: str) -> pl.Expr:
    """The scalar with this name; null for points without it."""
    item = pl.element()
    matching = pl.col("values").list.eval(
        item.filter(item.struct.field("name") == name).struct.field("value")
    )
    return matching.list.first().alias(name)
