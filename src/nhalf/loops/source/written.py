"""The operations of an iteration as its source has them, which compilers keep that neither regroup
nor vectorise: equal ones are computed once, and an element that two iterations read is loaded by
both. What is under a condition counts half.
"""

from collections import defaultdict

from nhalf.loops.source.iteration import Iteration
from nhalf.loops.source.memory import GUARDED
from nhalf.loops.source.values import ARITHMETIC


def written(iteration: Iteration) -> dict[str, float]:
    """Operations by the names that a processor has for them; products are not fused."""
    amounts = defaultdict[str, float](float)
    amounts["integer"] = iteration.plain_per_iteration.get("integer", 0)
    amounts["add"] = iteration.plain_per_iteration.get("compare", 0)
    used = iteration.values.uses()
    for node in iteration.values.nodes.values():
        if node.varies and node.kind in ARITHMETIC and id(node) in used:
            name = "add" if node.kind == "subtract" else node.kind
            amounts[name] += 1 if node.counted else GUARDED
    accessed, stored = set[str](), set[str]()
    for access in iteration.accesses:
        key, own = access.place.key, GUARDED if access.guarded else 1
        if not any(subscript.varies for subscript in access.place.subscripts):
            continue
        if access.is_write and key not in stored:
            amounts["store"] += own
            stored.add(key)
        elif not access.is_write and key not in accessed:
            amounts["load"] += own
        accessed.add(key)
    return amounts
