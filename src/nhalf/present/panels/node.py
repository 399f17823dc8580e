"""Panels on a node: its units, memory and GPUs, and loops beside their bounds."""

import math
from collections.abc import Iterator

import altair as alt
import polars as pl

from nhalf.base.listing import ranks_text
from nhalf.base.numbers import MISSING, fixed
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts import memory
from nhalf.facts.facts import Facts
from nhalf.facts.nccl import nccl_phases
from nhalf.facts.node import NodeFacts, Roof, nodes, roofs
from nhalf.loops.livermore.titles import PATTERN, TUNED
from nhalf.node.bandwidth import KERNELS
from nhalf.node.gpu import PATTERNS
from nhalf.node.reading import CHASE, SWEEP_STRIDES, UNIT
from nhalf.present.charts import common
from nhalf.present.charts.curves import count_axis, lines, some_sizes
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import Cell, interval_of, texts, way_name
from nhalf.results import Column
from nhalf.results.caches import size_words
from nhalf.results.gpu import SLICES, Gpu
from nhalf.results.sweeps import KINDS


class LoadLatency(Panel[Facts]):
    title = "Memory hierarchy"
    how_to_read = (
        "The load-to-use latency: the time of a load whose address comes from the load before, in "
        "random order over so much memory: each step is a cache that became too small, in small "
        "pages also a table of addresses, and dashed lines are the sizes of caches as their "
        "conflicts show them, or the middle of the sizes at which arrays begin to miss."
    )
    order = 73
    patterns = (CHASE,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [row for node in nodes(facts) for row in _load_latency_rows(node)]
        if not rows:
            return None
        marks = [row for node in nodes(facts) for row in _marks(node)]
        base = alt.Chart(common.data_of(rows)).encode(
            x=common.memory_axis("memory that is loaded from"),
            y=common.log_axis("time_s", "load-to-use latency", rows, common.TIME_LABEL),
            color=alt.Color("kind:N", title=None),
        )
        tooltip = common.tooltip(rows, size="memory", words="load-to-use latency", cycles="cycles")
        points = base.mark_point(filled=True, size=36, opacity=1).encode(tooltip=tooltip)
        layers: list[alt.Chart] = [base.mark_line(), points]
        if marks:
            sizes = alt.Chart(common.data_of(marks)).encode(x=alt.X("bytes:Q"))
            names = sizes.mark_text(align="right", dx=-4, baseline="top")
            layers.append(sizes.mark_rule(strokeDash=[4, 4], opacity=0.6))
            layers.append(names.encode(text="name:N", y=alt.value(4)))
        return common.wide(alt.layer(*layers))


def _load_latency_rows(node: NodeFacts) -> list[Row]:
    steps_by_pages = (("huge pages", node.steps), ("small pages", node.small_steps))
    return [
        {
            **{"kind": f"{node.run}, {pages}", "bytes": step.size_bytes},
            **{"size": format_size(step.size_bytes), "words": format_time(step.latency_s)},
            "time_s": common.digits(step.latency_s),
            "cycles": common.digits(step.cycles_median, 3),
        }
        for pages, steps in steps_by_pages
        for step in steps
    ]


def _marks(node: NodeFacts) -> list[Row]:
    return [
        {
            "name": f"L{level.level} {size_words(level.size_bytes, level.size_ci)}",
            "bytes": level.size_bytes or round(math.sqrt(math.prod(level.size_ci or ()))),
        }
        for level in node.levels.levels
        if level.size_bytes or level.size_ci
    ]


class Units(Panel[Facts]):
    title = "Units of a core"
    how_to_read = (
        "The number of operations of each kind that start per cycle if nothing else does, and the "
        "cycles until a result can be used: a loop of dependent operations takes the latency of "
        "each, any other the sum of their shares of a cycle."
    )
    order = 74
    patterns = (UNIT,)

    def render(self, facts: Facts) -> Table | None:
        columns: dict[str, Cell] = {
            "operation": lambda unit: unit.name.replace("_", " "),
            "width": "width",
            "a cycle": lambda unit: fixed(unit.per_cycle, 2),
            "latency, cycles": lambda unit: fixed(unit.latency_cycles or math.nan, 1),
            "doubt": lambda unit: unit.doubt or "",
        }
        return Table.of([unit for node in nodes(facts) for unit in node.operations], columns)


FIRST_PER_BYTE, LAST_PER_BYTE = 2**-6, 2**6
_NUMBER = "format(datum.value, '~r')"
_FRACTION = f"datum.value < 1 ? '1/' + format(1 / datum.value, '~r') : {_NUMBER}"


class Roofline(Panel[Facts]):
    title = "Roofline of one core"
    how_to_read = (
        "A loop with this many floating-point operations for each byte it moves stays below the "
        "line of the level that holds its arrays: on the slope that level's bandwidth limits it, "
        "on the flat part the units do."
    )
    order = 75
    patterns = (UNIT,)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        all_roofs = roofs(facts)
        if not all_roofs:
            return None
        rows = [row for roof in all_roofs for row in _roofline_rows(roof)]
        scale = alt.Scale(type="log", base=2, nice=False)
        axis = alt.Axis(labelExpr=_FRACTION, labelOverlap="greedy", tickCount=8)
        titles = {"level": "arrays in", "rate": "triad", "per_byte": "flop/B", "giga": "GFLOP/s"}
        line = alt.Chart(common.data_of(rows)).mark_line(point=True)
        chart = line.encode(
            x=alt.X("per_byte:Q", title="flop/B", scale=scale, axis=axis),
            y=common.log_axis("giga", "GFLOP/s", rows, _NUMBER),
            color=alt.Color("level:N", title=None),
            tooltip=common.tooltip(rows, **titles),
        )
        return common.wide(chart)


def _roofline_rows(roof: Roof) -> list[Row]:
    places = (FIRST_PER_BYTE, roof.ridge_per_byte, max(LAST_PER_BYTE, 2 * roof.ridge_per_byte))
    return [
        {
            "level": roof.level,
            "per_byte": common.digits(place, 4),
            "giga": common.digits(roof.reached_per_s(place) / 1e9, 4),
            "rate": format_rate(roof.rate_Bps),
        }
        for place in places
    ]


class Ladder(Panel[Facts]):
    title = "From the bound to the time"
    how_to_read = (
        "Cycles per iteration: what is essential in the source (MA), what the compiler emitted "
        "(MAC), that with the chain from one iteration to the next (MACS), and what it took; the "
        "largest step of more than a fifth has its cause and what helps."
    )
    order = 76
    patterns = (PATTERN,)

    def render(self, facts: Facts) -> Table | None:
        columns: dict[str, Cell] = {
            **{"kernel": "kernel", "build": "build", "MA": "ma_cycles", "MAC": "mac_cycles"},
            **{"MACS": "macs_cycles", "measured": "cycles", "share": "share"},
            "largest gap": lambda row: (
                f"{row['cause']}: {row['remedy']}" if row["cause"] else MISSING
            ),
        }
        return Table.of(facts.results.get("ladder", []), columns)


class TunedKernels(Panel[Facts]):
    title = "Plain, tuned and bound"
    how_to_read = (
        "Cycles per iteration in the fastest build of each kernel: its bound, the source as it is "
        "defined, and transformed; without the chain that bounds, more than 100 % is possible."
    )
    order = 77
    patterns = (PATTERN,)

    def render(self, facts: Facts) -> Table | None:
        quickest: dict[tuple[int, bool], Row] = {}
        for row in sorted(facts.results.get("ladder", []), key=lambda row: row["cycles"]):
            quickest.setdefault((row["number"], row["is_tuned"]), row)
        rows = [
            plain | {"tuned_cycles": tuned["cycles"], "tuned_share": tuned["share"]}
            for number in TUNED
            if (plain := quickest.get((number, False))) and (tuned := quickest.get((number, True)))
        ]
        columns: dict[str, Cell] = {
            **{"kernel": "kernel", "bound": "ma_cycles", "plain": "cycles"},
            **{"tuned": "tuned_cycles", "plain share": "share", "share": "tuned_share"},
            "transformations": lambda row: ", ".join(TUNED[row["number"]]),
        }
        return Table.of(rows, columns)


class LevelBandwidth(Panel[Facts]):
    title = "Bandwidth of each level"
    how_to_read = (
        "Bytes per second that all cores together read and write with arrays in one level, counted "
        "as STREAM does: private levels grow with the cores, and memory until it is saturated."
    )
    order = 78
    patterns = tuple(f"memory-{kernel}" for kernel in KERNELS)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        streams = facts.results.get("stream", [])
        rows = [row for stream in streams for row in _level_bandwidth_rows(stream)]
        if not rows:
            return None
        rate = common.log_axis("rate", "rate of all cores", rows, common.RATE_LABEL)
        titles = {"kind": "arrays in", "cores": "cores", "words": "rate of all", "mark": "doubt"}
        return lines(
            rows,
            (count_axis(rows, "cores", "cores", doubling=True), rate),
            facets=("kernel", KERNELS),
            tooltip=common.tooltip(rows, "kernel", **titles),
        )


def _level_bandwidth_rows(stream: Row) -> list[Row]:
    rates = {kernel: stream.get(f"{kernel}_Bps") for kernel in KERNELS}
    return [
        {
            "kind": stream["level"],
            "kernel": kernel,
            "cores": stream["ranks"],
            "rate": common.digits(rate_Bps),
            "words": Column(f"{kernel}_Bps", kernel, format_rate).cell(stream),
            "mark": stream["marks"].get(kernel, "none"),
        }
        for kernel, rate_Bps in rates.items()
        if rate_Bps
    ]


class Sweeps(Panel[Facts]):
    title = "Loads and stores by stride"
    how_to_read = (
        "Cycles of an access that waits for no other, over an array again and again: where lines "
        "are used in part only, each access costs what a line costs, and small strides share it."
    )
    order = 79
    patterns = tuple(KINDS)

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [row for sweep in facts.results.get("sweeps", []) for row in _sweeps_rows(sweep)]
        if not rows:
            return None
        cycles = alt.Y("cycles:Q", title="cycles of an access", scale=alt.Scale(type="log"))
        return lines(
            rows,
            (common.memory_axis("array"), cycles),
            kinds=[f"every {stride} B" for stride in SWEEP_STRIDES],
            facets=("access", [f"{kind}s" for kind in KINDS.values()]),
            tooltip=common.tooltip(rows, size="array", kind="access", cycles="cycles"),
        )


def _sweeps_rows(sweep: Row) -> list[Row]:
    return [
        {
            "bytes": sweep["size_bytes"],
            "size": format_size(sweep["size_bytes"]),
            "access": f"{kind}s",
            "kind": f"every {stride} B",
            "cycles": common.digits(cycles, 3),
        }
        for kind in KINDS.values()
        for stride in SWEEP_STRIDES
        if (cycles := sweep.get(f"{kind}_{stride}_cycles"))
    ]


SIZES_SHOWN = 4
"""Sizes of each operation of NCCL that are shown, the first and the last among them."""


class GpuCosts(Panel[Facts]):
    title = Gpu.title
    how_to_read = (
        "A message from GPU memory waits for a launch or a flag, and is copied where the network "
        "does not reach that memory; times end when the call returns, when the GPU is done and "
        "when the host knows it, of copies those of the fewest bytes and the rate of the most; "
        "processes on one GPU take turns, which is no network; an operation of NCCL is that of "
        "rank 0, on the GPU between two events."
    )
    order = 69
    patterns = PATTERNS

    def render(self, facts: Facts) -> Table | None:
        rows = [*facts.results.get("gpu", []), *_nccl_rows(facts)]
        columns = {
            column.title: column.cell
            for column in Gpu.columns
            if any(row.get(column.name) is not None for row in rows)
        }
        return Table.of(rows, columns)


def _nccl_rows(facts: Facts) -> Iterator[Row]:
    """Operations of NCCL at some of their sizes, with the columns of `Gpu`."""
    for curve in nccl_phases(facts):
        shown = some_sizes([times.size_bytes for times in curve.times], SIZES_SHOWN)
        where = f"{ranks_text(curve.ranks)}{', ' + SLICES if curve.in_slices else ''}"
        for times in curve.times:
            if times.size_bytes not in shown:
                continue
            over = {
                "host_returns_s": times.host_returns,
                "device_s": times.device_done,
                "time_s": times.host_knows,
            }
            size = format_size(times.size_bytes)
            yield {
                "what": f"{curve.series}: {curve.name} of {size}, {where}",
                **{name: interval.median for name, interval in over.items()},
                **{
                    f"{name}_ci": (interval.low, interval.high)
                    for name, interval in over.items()
                    if math.isfinite(interval.half_width)
                },
            }


class Memory(Panel[Facts]):
    title = "Memory bandwidth"
    how_to_read = (
        "Bytes per second that all processes or threads together read and write, counted as STREAM "
        "does: a line that rises with the cores has bandwidth to spare, and an access to shared "
        "arrays below ordinary ones spends its time on address computation."
    )
    order = 72
    patterns = memory.PATTERNS

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        points = memory.rates(facts)
        if points.is_empty():
            return None
        order = points.with_columns(
            place=pl.col("way").replace_strict(list(memory.WAYS), list(range(len(memory.WAYS)))),
            # Words come before numbers.
            length=pl.when(block=memory.EVEN)
            .then(0)
            .otherwise(pl.col("block").cast(pl.Int64, strict=False)),
        )
        rows = [
            {
                **common.pick(row, "series", "kernel", "ranks", "cores"),
                **texts(row, words="rate_Bps", size="bytes"),
                "kind": way_name(row["way"], row["block"]),
                "rate": common.digits(row["rate_Bps"]),
                "interval": interval_of(row),
            }
            for row in order.sort("place", "length", "series", "cores").iter_rows(named=True)
        ]
        titles = {"series": "on", "kind": "access", "ranks": "ranks", "words": "rate of all"}
        titles |= {"size": "each array", "interval": "95 % interval of the time"}
        return lines(
            rows,
            (
                count_axis(rows, "cores", "cores", doubling=True),
                common.log_axis("rate", "rate of all cores", rows, common.RATE_LABEL),
            ),
            facets=("series", sorted({row["series"] for row in rows})),
            tooltip=common.tooltip(rows, **titles),
            choice=("kernel", "Kernel"),
        )
