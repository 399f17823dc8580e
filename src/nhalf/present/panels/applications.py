"""Panels on applications: time, speed-up, shapes, parts and limits."""

from dataclasses import asdict

import altair as alt

from nhalf.base.listing import ranks_text
from nhalf.base.numbers import fixed, times
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.applications import applications, part_races
from nhalf.facts.facts import Facts
from nhalf.facts.node import reached
from nhalf.node.bandwidth import MEMORY
from nhalf.present.charts import common
from nhalf.present.charts.curves import count_axis, lines
from nhalf.present.charts.ratios import RATIO_LABEL, dots
from nhalf.present.panels import Panel, Table
from nhalf.present.wording import Cell, ends, interval_of, kernel_name, run_by, texts

PERFECT = "as many times as ranks"
ENDS = ("ci_low_s", "time_s", "ci_high_s")


class ApplicationSpeedup(Panel[Facts]):
    title = "Applications: speed-up"
    how_to_read = (
        "How many times as fast a kernel is as on one rank or thread; if the smallest number "
        "measured is 2, that counts as twice as fast as one, and the last line of the legend is "
        "perfect scaling."
    )
    order = 81

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows = [_application_speedup_drawn(row) for row in applications(facts) if row["speedup"]]
        if len({row["workers"] for row in rows}) < 2:
            return None
        names = sorted({row["name"] for row in rows})
        kinds = [*sorted({row["kind"] for row in rows}), PERFECT]
        workers = sorted({row["workers"] for row in rows})
        for name in names:
            rows += [
                {"name": name, "kind": PERFECT, "workers": number, "speedup": number}
                for number in workers
            ]
        axis = alt.Axis(values=common.log_ticks(row["speedup"] for row in rows), format="~r")
        speedup = alt.Y("speedup:Q", title="speed-up", scale=common.LOG_SCALE, axis=axis)
        titles = {"kind": "run by", "workers": "ranks or threads", "speedup": "speed-up"}
        titles |= {"base": "against", "time": "time", "interval": "95 % interval"}
        return lines(
            rows,
            (count_axis(rows, "workers", "ranks or threads", doubling=True), speedup),
            ("name", names),
            common.tooltip(rows, **titles),
            kinds,
        )


def _application_speedup_drawn(row: Row) -> Row:
    return {
        **{"name": kernel_name(row), "kind": run_by(row), "workers": row["ranks"] * row["threads"]},
        "speedup": common.digits(row["speedup"], 4),
        **{"base": _base(row["speedup_base"]), "time": format_time(row["time_s"])},
        "interval": interval_of(row),
    }


def _base(workers: int) -> str:
    """State the base of a speed-up; without a run on one worker, its value is assumed."""
    return "one" if workers == 1 else f"{workers}, taken as {workers} times as fast as one"


class ApplicationTimes(Panel[Facts]):
    title = "Applications: libraries and programming models"
    how_to_read = (
        "Each kernel's time relative to the fastest on the same number of ranks, with its "
        "95 % interval: the leftmost dot of a line is fastest."
    )
    order = 82

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        timed = [row for row in applications(facts) if row["time_s"]]
        cells: dict[tuple[str, int], list[Row]] = {}
        for row in timed:
            workers = row["ranks"] * row["threads"]
            cells.setdefault((kernel_name(row), workers), []).append(row)
        rows = [
            {
                **{"name": name, "kind": run_by(row), "on": str(workers)},
                "ratio": common.digits(ratio, 4),
                **common.drawn_ends(low, ratio, high, 4),
                **texts(row, time="time_s", rate="mops"),
                "interval": interval_of(row),
            }
            for (name, workers), cell in sorted(cells.items(), key=lambda item: -item[0][1])
            for fastest_s in [min(row["time_s"] for row in cell)]
            for row in cell
            for low, ratio, high in [[row[end] / fastest_s for end in ENDS]]
            if len(cell) > 1
        ]
        if not rows:
            return None
        most = max(row["ratio"] for row in rows)
        tenths = [1 + tenth / 10 for tenth in range(11)]
        ticks = tenths if most < 2 else common.log_ticks([1.0, most])
        axis = alt.Axis(values=ticks, labelExpr=RATIO_LABEL)
        titles = {"name": "kernel", "kind": "run by", "time": "time", "interval": "95 % interval"}
        titles |= {"rate": "Mop/s"}
        value = alt.X("ratio:Q", title="times the fastest", scale=common.LOG_SCALE, axis=axis)
        kinds = sorted({row["kind"] for row in rows})
        tooltip = common.tooltip(rows, **titles)
        return dots(rows, value, kinds, tooltip, ("on", "Ranks or threads"), level=1)


class ApplicationShapes(Panel[Facts]):
    title = "Applications: shapes"
    how_to_read = (
        "The time of a kernel on the same number of ranks in several shapes, hosts x ranks on "
        "each, and its ratio to that of the fastest shape."
    )
    order = 83

    def render(self, facts: Facts) -> Table | None:
        cells: dict[tuple[str, str, int], dict[str, Row]] = {}
        for row in applications(facts):
            if row["time_s"] and row["threads"] == 1:
                cell = cells.setdefault((kernel_name(row), row["series"], row["ranks"]), {})
                cell[row["placement"]] = row
        several = {key: cell for key, cell in cells.items() if len(cell) > 1}
        if not several:
            return None
        shapes = sorted({shape for cell in several.values() for shape in cell}, key=_hosts)
        rows = [
            [*map(str, key), *(_text(cell, shape) for shape in shapes)]
            for key, cell in several.items()
        ]
        return Table(["kernel", "run by", "ranks", *shapes], rows)


def _hosts(shape: str) -> tuple[int, str]:
    """Shapes on few hosts come first."""
    first = shape.partition("x")[0]
    return (int(first) if first.isdecimal() else 0, shape)


def _text(cell: dict[str, Row], shape: str) -> str:
    if shape not in cell:
        return "–"
    time_s = cell[shape]["time_s"]
    fastest_s = min(row["time_s"] for row in cell.values())
    return f"{format_time(time_s)} ({times(time_s / fastest_s)})"


class ApplicationCommunication(Panel[Facts]):
    title = "Applications: time in communication"
    how_to_read = (
        "The share of the time that ranks spend in MPI calls, or threads waiting for each other, "
        "as a mean over them; early arrivals wait, so it includes load imbalance."
    )
    order = 84

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        measured = [row for row in applications(facts) if row["communication_share"] is not None]
        rows = [
            {
                "name": kernel_name(row),
                "kind": run_by(row),
                "on": f"{row['ranks'] * row['threads']}",
                "share": common.digits(row["communication_share"], 4),
                "low": common.digits(row["communication_share"], 4),
                "high": common.digits(row["communication_share"], 4),
            }
            for row in sorted(measured, key=lambda row: -row["ranks"] * row["threads"])
            if row["ranks"] * row["threads"] > 1
        ]
        if not rows:
            return None
        scale = alt.Scale(domain=[0, 1])
        return dots(
            rows,
            alt.X("share:Q", title="share of the time", scale=scale, axis=alt.Axis(format=".0%")),
            sorted({str(row["kind"]) for row in rows}),
            common.tooltip(rows, name="kernel", kind="run by", share="in communication"),
            ("on", "Ranks or threads"),
        )


class ApplicationParts(Panel[Facts]):
    title = "Applications: replaced parts"
    how_to_read = (
        "Each kernel's speed with a different barrier or decision table over that of the "
        "unmodified library, in the same launches, with its 95 % interval: right of 1 the part "
        "makes it faster."
    )
    order = 86

    def render(self, facts: Facts) -> alt.TopLevelMixin | None:
        rows: list[Row] = [
            {
                "name": kernel,
                "kind": race.second,
                "on": f"{facts.titles.get(str(race.place['library']), race.place['library'])}, "
                f"{ranks_text(race.place['workers'])}",
                "ratio": common.digits(ratio.median, 4),
                **common.drawn_ends(ratio.low, ratio.median, ratio.high, 4),
                "interval": ends(ratio),
            }
            for race in part_races(facts)
            for kernel, ratio in race.ratios.items()
        ]
        if not rows:
            return None
        ticks = common.log_ticks(row["ratio"] for row in rows)
        axis = alt.Axis(values=ticks, labelExpr=RATIO_LABEL)
        return dots(
            rows,
            alt.X("ratio:Q", title="times as fast", scale=common.LOG_SCALE, axis=axis),
            sorted({str(row["kind"]) for row in rows}),
            common.tooltip(
                rows, name="kernel", kind="part", ratio="times as fast", interval="95 % interval"
            ),
            ("on", "Library"),
            level=1,
        )


LIMITS = {MEMORY: "memory bandwidth", "units": "floating-point units"}


class ApplicationRoofline(Panel[Facts]):
    title = "Applications: how near to the machine's limits"
    how_to_read = (
        "The operations per second of a kernel, as the reference counts them, the maximum that "
        "the node's floating-point units or memory allow by the roofline model, and the share "
        "reached; classes S and W fit into caches, so only the units limit them."
    )
    order = 87

    def render(self, facts: Facts) -> Table | None:
        columns: dict[str, Cell] = {
            **{"kernel": "kernel", "run by": "series", "ranks or threads": "workers"},
            "Gop/s": lambda row: fixed(row["rate_per_s"] / 1e9, 2),
            "bound": lambda row: fixed(row["bound_per_s"] / 1e9, 2),
            "limit": lambda row: LIMITS[row["limit"]],
            "reached": "share",
        }
        rows = [
            asdict(application) | {"share": application.share} for application in reached(facts)
        ]
        return Table.of(rows, columns)
