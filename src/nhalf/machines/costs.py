"""The costs of algorithms in print: as text, for LaTeX, and as Python functions."""

from collections.abc import Mapping, Sequence

from nhalf.base.errors import unknown
from nhalf.machines.algorithms import Algorithm
from nhalf.machines.formula import FORMS
from nhalf.models.expression import PART_BYTES, Expression, python_function

LEGEND = (
    "seconds of p ranks and n bytes: T(x) one message of x bytes, "
    f"M(x, q) one rank sends to q others, R(x, q) it receives from them; B = {PART_BYTES}"
)
IMPORT = "from math import "
COMMENTS = {"text": "#", "latex": "%", "python": "#"}


def printed_costs(
    selection: str, algorithms: Mapping[str, Sequence[Algorithm]], form: str
) -> dict[str, str]:
    """The costs of an operation or of one of its algorithms, by names such as bcast/binomial.

    `form` is one of FORMS. Algorithms without a cost are left out. Raises InputError for an
    operation, an algorithm or a form that is unknown.
    """
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    operation, _, algorithm = selection.partition("/")
    if operation not in algorithms:
        raise unknown("operation with algorithms", operation, algorithms)
    costs = {
        candidate.name: candidate.cost
        for candidate in algorithms[operation]
        if candidate.cost is not None
    }
    if algorithm and algorithm not in costs:
        raise unknown(f"algorithm of {operation}", algorithm, costs)
    return {
        f"{operation}/{name}": _printed(f"{operation}_{name}", cost, form)
        for name, cost in costs.items()
        if algorithm in ("", name)
    }


def costs_text(costs: Mapping[str, str], form: str) -> str:
    """The costs below a line that explains their letters."""
    sign = COMMENTS[form]
    if form == "text":
        lines = [f"{name}: {cost}\n" for name, cost in costs.items()]
    elif form == "latex":
        lines = [f"{sign} {name}\n{cost}\n" for name, cost in costs.items()]
    else:
        lines = [_functions(list(costs.values()))]
    return "".join([f"{sign} {LEGEND}\n", *lines])


def _functions(costs: Sequence[str]) -> str:
    """Python functions, with their joint imports above them."""
    imports: set[str] = set()
    bodies = []
    for cost in costs:
        import_line, separator, body = cost.partition("\n\n\n")
        imports |= set(import_line.removeprefix(IMPORT).split(", ")) if separator else set()
        bodies.append(body if separator else cost)
    head = [f"{IMPORT}{', '.join(sorted(imports))}\n"] if imports else []
    return "\n\n".join(head + bodies)


def _printed(name: str, cost: Expression, form: str) -> str:
    if form == "text":
        return cost.as_text()
    return cost.as_latex() if form == "latex" else python_function(name.replace("-", "_"), cost)
