"""Formulas of a machine's models, costs of algorithms: as text, for LaTeX, as Python functions."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from nhalf.base.carrier import carrier
from nhalf.base.errors import unknown
from nhalf.base.listing import ranks_text
from nhalf.machines.algorithms import Algorithm
from nhalf.machines.machine import FittedModel, Machine, PatternModel, Segment
from nhalf.models.expression import PART_BYTES, Expression, python_function
from nhalf.models.terms import WORDS, Sum

FORMS = ("text", "latex", "python")
_DIGITS = 6
_LATEX = {
    "p": "p",
    "p-1": "(p - 1)",
    "p-2": "(p - 2)",
    "log2(p)": r"\log_2 p",
    "floor(log2(p))": r"\lfloor \log_2 p \rfloor",
    "ceil(log2(p))": r"\lceil \log_2 p \rceil",
    "floor(log2(p))^2": r"\lfloor \log_2 p \rfloor^2",
    "sqrt(floor(log2(p)))": r"\sqrt{\lfloor \log_2 p \rfloor}",
    "sqrt(p)": r"\sqrt{p}",
    "p^2": "p^2",
    "p^3": "p^3",
    "(p-1)/p": r"\frac{p - 1}{p}",
    "p*log2(p)": r"p \log_2 p",
}
_PYTHON = {
    "p-1": "(p - 1)",
    "p-2": "(p - 2)",
    "log2(p)": "math.log2(p)",
    "floor(log2(p))": "(p.bit_length() - 1)",
    "ceil(log2(p))": "(p - 1).bit_length()",
    "floor(log2(p))^2": "(p.bit_length() - 1) ** 2",
    "sqrt(floor(log2(p)))": "math.sqrt(p.bit_length() - 1)",
    "sqrt(p)": "math.sqrt(p)",
    "p^2": "p**2",
    "p^3": "p**3",
    "(p-1)/p": "(p - 1) / p",
    "p*log2(p)": "p * math.log2(p)",
}
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))


def formulas(machine: Machine, form: str) -> str:
    """All formulas in one of FORMS, each below its title."""
    parts = [_curve(model, form) for model in machine.models if model.segments]
    for _, models in itertools.groupby(machine.patterns, key=_subject):
        parts.append(_pattern(list(models), form))
    head = "import math\n\n\n" if form == "python" and parts else ""
    return head + ("\n\n" if form == "python" else "\n").join(parts)


def _subject(model: PatternModel) -> tuple[str, ...]:
    library = carrier(model.mpi, model.transport)
    return (model.pattern, model.algorithm, library, model.placement, model.axes, model.what)


def _curve(model: FittedModel, form: str) -> str:
    words = [model.pattern, model.algorithm, carrier(model.mpi, model.transport), model.placement]
    words += [model.axes, ranks_text(model.ranks)]
    regions = []
    for segment in model.segments:
        where = _range("n", segment.from_bytes, segment.to_bytes, form)
        regions.append((_segment(segment, form), where))
    return _block(words, regions, form, "n")


def _segment(segment: Segment, form: str) -> str:
    parts = [(segment.t0_s, ""), (1 / segment.r_inf_Bps, "n"), (segment.root_s, "sqrt(n)")]
    return _sum([({"1": value}, factor) for value, factor in parts if value], form)


def _pattern(models: Sequence[PatternModel], form: str) -> str:
    first = models[0]
    words, letter = list(_subject(first)), first.letter
    words += ["q partners of the one rank"] if letter == "q" else []
    regions = []
    for model in models:
        sums = (model.startup_s, ""), (model.per_byte_s, "n"), (model.per_root_byte_s, "sqrt(n)")
        where = _range("n", model.from_bytes, model.to_bytes, form)
        end = None if model.to_ranks is None else model.counted(model.to_ranks)
        ranks = _range(letter, model.counted(model.from_ranks), end, form)
        comma = {"text": ", ", "latex": r",\ ", "python": " and "}[form]
        regions.append((_sum(sums, form, letter), f"{where}{comma}{ranks}"))
    block = _block(words, regions, form, f"n, {letter}")
    corrected = [model for model in models if model.leftover is not None]
    if form == "python" and corrected:
        surface = corrected[0].leftover
        whole = surface is not None and surface.whole
        return _smoothed(block, corrected[0]) if whole else _corrected(block, models)
    note = "times a correction between the cells measured, which Python functions have"
    sign = "% " if form == "latex" else "  "
    return f"{block}{sign}({note})\n" if corrected else block


def _range(name: str, low: int, high: int | None, form: str) -> str:
    """The range in which a formula holds."""
    sign = {"text": "≤", "latex": r"\le", "python": "<="}[form]
    right = "" if high is None else f" {sign} {high}"
    return f"{low} {sign} {name}{right}"


def _block(words: Iterable[str], regions: list[tuple[str, str]], form: str, arguments: str) -> str:
    """The regions below the title; `regions` are formulas and their ranges."""
    title = ", ".join(filter(None, words))
    if form == "python":
        name = re.sub(r"\W+", "_", title.replace("½", "half")).strip("_").lower()
        lines = [f"def {name}({arguments}):", f'    """Seconds: {title}."""']
        for formula, where in regions:
            lines += [f"    if {where}:", f"        return {formula}"]
        return "\n".join([*lines, '    raise ValueError("beyond what was modelled")', ""])
    if form == "latex":
        rows = [rf"  {formula}, & {where} \\" for formula, where in regions]
        head, foot = rf"T({arguments}) = \begin{{cases}}", r"\end{cases}"
        return "\n".join([f"% {title}", head, *rows, foot, ""])
    return "\n".join(
        [title, *(f"  T({arguments}) = {formula}   for {where}" for formula, where in regions), ""]
    )


def _sum(sums: Iterable[tuple[Sum, str]], form: str, letter: str = "p") -> str:
    """A sum of terms, each times a factor such as n or sqrt(n)."""
    parts = [
        _product(value, name, factor, form, letter)
        for terms, factor in sums
        for name, value in terms.items()
    ]
    if not parts:
        return "0.0" if form == "python" else "0"
    minus = "−" if form == "text" else "-"
    text = parts[0]
    for part in parts[1:]:
        text += f" {minus} {part[1:].strip()}" if part.startswith(minus) else f" + {part}"
    return text


def _product(value: float, term: str, factor: str, form: str, letter: str) -> str:
    """A coefficient with its unit, its term and n."""
    if form == "python":
        names = [_PYTHON.get(term, term).replace("p", letter)] if term != "1" else []
        names += [factor.replace("sqrt", "math.sqrt")] if factor else []
        return " * ".join([repr(value), *names])
    scale, unit = next(((s, u) for s, u in _UNITS if abs(value) >= s * (1 - 5e-7)), _UNITS[-1])
    sign = ("−" if form == "text" else "-") if value < 0 else ""
    number = f"{abs(value) / scale:.{_DIGITS}g}"
    if form == "latex":
        unit = rf"\,\mathrm{{{unit.replace('µ', chr(92) + 'mu ')}}}"
        names = [_LATEX[term].replace("p", letter)] if term != "1" else []
        names += [factor.replace("sqrt(n)", r"\sqrt{n}")] if factor else []
        return r"\,".join([f"{sign}{number}{unit}", *names])
    names = [WORDS[term].replace("p", letter)] if term != "1" else []
    names += [factor.replace("sqrt(n)", "√n")] if factor else []
    return " ".join([f"{sign}{number} {unit}", *(["·", *names] if names else [])])


def _smoothed(block: str, model: PatternModel) -> str:
    """A Python function with the surface through the cells, and the sums beyond them."""
    from nhalf.machines.leftover import surface_of
    from nhalf.models.smooth import MEAN_VARIANCE, POWER_SCALE, SAME, SPAN

    name = re.match(r"def (\w+)", block)
    assert name is not None
    assert model.leftover is not None
    leftover = model.leftover
    surface, weights = surface_of(leftover)
    cells = [
        (*map(float, place), float(weight))
        for place, weight in zip(surface.place, weights, strict=True)
    ]
    size_scale, rank_scale, of_ranks, of_cells, of_jumps = (*leftover.scale, 0.0)[:5]
    sizes = f"{min(leftover.size_bytes)!r} <= n <= {max(leftover.size_bytes)!r}"
    ranks = f"{min(leftover.ranks)} <= p <= {max(leftover.ranks)}"
    return f"""{block.replace(f"def {name[1]}", f"def _{name[1]}_sums", 1)}

_{name[1]}_cells = {cells}


def _{name[1]}_at(n, p):
    here = (math.log2(n + 1), math.log2(p), 0.0 if p & (p - 1) else 4.0)
    log_time = 0.0
    for *there, weight in _{name[1]}_cells:
        size = abs(here[0] - there[0]) / {size_scale!r}
        ranks = (here[1] - there[1]) / {rank_scale!r}, (here[2] - there[2]) / {POWER_SCALE!r}
        rank = math.hypot(*ranks)
        near = [math.sqrt(3.0) * d for d in (size, rank, math.hypot(size, rank))]
        alike = [(1 + d) * math.exp(-d) for d in near]
        mean = 1 + sum(a * b for a, b in zip(here, there)) / {SPAN**2!r}
        shares = alike[0] + {of_ranks!r} * alike[1] + {of_cells!r} * alike[2]
        jump = {of_jumps!r} if abs(here[1] - there[1]) < {SAME!r} else 0.0
        log_time += weight * (shares + jump + {MEAN_VARIANCE!r} * mean)
    return math.exp(log_time)


def {name[1]}(n, p):
    \"\"\"Seconds: a surface at sizes measured, lines between them, beyond them the sums.\"\"\"
    if not ({sizes} and {ranks}):
        return _{name[1]}_sums(n, p)
    sizes = {sorted(set(leftover.size_bytes))}
    low = max(size for size in sizes if size <= n)
    high = min((size for size in sizes if size > low), default=low)
    share = (n - low) / (high - low) if high > low else 0.0
    return (1 - share) * _{name[1]}_at(low, p) + share * _{name[1]}_at(high, p)
"""


def _corrected(block: str, models: Sequence[PatternModel]) -> str:
    """A Python function with the process between the cells, written as a sum over the cells."""
    from nhalf.machines.leftover import correction_of
    from nhalf.models.pattern import DEVIATION_MAX
    from nhalf.statistics.gaussian_process import MEAN_VARIANCE, SPAN

    name = re.match(r"def (\w+)", block)
    assert name is not None
    rows = []
    for model in models:
        if model.leftover is None:
            continue
        process, weights = correction_of(model.leftover)
        cells = [
            (*map(float, place), float(weight))
            for place, weight in zip(process.place, weights, strict=True)
        ]
        end = math.inf if model.to_bytes is None else model.to_bytes
        rows.append(f"    ({model.from_bytes}, {end}, {process.scale}, {cells}),")
    sums = block.replace(f"def {name[1]}", f"def _{name[1]}_sums", 1)
    return f"""{sums}

_{name[1]}_cells = [
{chr(10).join(rows)}
]


def {name[1]}(n, p):
    \"\"\"Seconds: the sums, times what they leave over between the cells measured.\"\"\"
    here = (math.log2(n + 1), math.log2(p), 0.0 if p & (p - 1) else 4.0)
    log_ratio = 0.0
    for low, high, scales, cells in _{name[1]}_cells:
        if low <= n <= high:
            for *there, weight in cells:
                square = sum(((a - b) / s) ** 2 for a, b, s in zip(here, there, scales))
                d = math.sqrt(3.0 * square)
                mean = 1 + sum(a * b for a, b in zip(here, there)) / {SPAN**2!r}
                log_ratio += weight * ((1 + d) * math.exp(-d) + {MEAN_VARIANCE!r} * mean)
    bounded = max(-{DEVIATION_MAX}, min({DEVIATION_MAX}, log_ratio))
    return _{name[1]}_sums(n, p) * math.exp(bounded)
"""


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
