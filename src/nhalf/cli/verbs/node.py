"""`nhalf node`: measure the caches, units and memory bandwidth of one node, or its GPU."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nhalf.base.errors import FailedError, InputError, MissingError
from nhalf.base.printable import say
from nhalf.base.request import option
from nhalf.base.rows import members
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, RunOptions
from nhalf.present.report import write_report
from nhalf.present.terminal.output import console, emit_json, stdout_console

with lazily(globals()):
    from msgspec.structs import replace

    from nhalf.facts.facts import Facts
    from nhalf.facts.gpu import gpu_part
    from nhalf.loops.livermore.keeping import keep
    from nhalf.loops.livermore.table import as_json
    from nhalf.machines.machine_file import write as write_machine
    from nhalf.machines.processor import Processor
    from nhalf.machines.processor_file import write
    from nhalf.measure.loop.progress import Progress
    from nhalf.measure.plan.plan import parse_sizes
    from nhalf.node.described import described, keep_here
    from nhalf.node.gpu import begin_gpu, measure_gpu
    from nhalf.node.measuring import begin, measure
    from nhalf.node.reading import readings
    from nhalf.present.terminal.bounds import show_livermore
    from nhalf.present.terminal.node import show_gpu, show_node
    from nhalf.present.terminal.output import show_place
    from nhalf.store.run import Run

GROUP = "measure"


@dataclass(frozen=True, kw_only=True)
class Request(RunOptions, heading=OUTPUT):
    """The output about the node, and the folder of its run."""

    lfk: bool = option(
        False,
        "Run the 24 Livermore kernels instead: bound, time and advice for each.",
        heading="What",
    )
    gpu: bool = option(
        False,
        "Measure the GPU instead: launches, flags, and copies between its memory and the host's.",
        heading="What",
    )
    bytes: str = option("", "Sizes of the GPU's copies; default: 8 B to 64 MiB.", heading="What")


def command(request: Request) -> None:
    """Measure the caches, execution units and memory bandwidth of this node, by timing alone.

    nhalf node --out runs/node
    nhalf node --report --json
    nhalf node --lfk
    nhalf node --gpu --out runs/gpu
    """
    if request.gpu:
        _gpu(request)
        return
    if request.bytes:
        raise InputError("--bytes are the sizes of a GPU's copies", "give it with --gpu")
    if request.lfk:
        _livermore(request)
        return
    outcome = measure(begin(request.out), Progress(request.is_silent))
    facts = Facts.of([outcome.run])
    processor = _keep(outcome.run)
    report_path = _report(request, facts, outcome.run)
    if request.json:
        emit_json(node_json(outcome.run, facts, processor))
    elif not request.quiet:
        show_node(outcome.run, facts, processor, report_path)


def _keep(run: Run) -> Processor | None:
    """Write the measured processor into its run, and to the file that `--machine here` reads."""
    from nhalf.node.measured import measured

    ((name, reading),) = readings(run.measurements()).items()
    processor = measured(reading, name, run.environment)
    if processor is not None:
        write(processor, run.path / "processor.toml")
        try:
            keep_here(processor)
        except MissingError as error:  # the run holds the measurements
            say(f"not kept for `--machine here`: {error}")
    return processor


def node_json(run: Run, facts: Facts, processor: Processor | None) -> dict[str, Any]:
    """The JSON object that `node --json` prints."""
    from nhalf.node.bandwidth import KERNELS

    rows = facts.results.get("caches", [])
    units = processor.operations if processor else ()
    return {
        "run": str(run.path),
        "caches": [row for row in rows if "level" in row],
        "tlb": [row for row in facts.results.get("translation", []) if "level" in row],
        "sweeps": facts.results.get("sweeps", []),
        "units": [
            {
                "name": unit.key,
                **members(
                    unit, "per_cycle", "per_cycle_ci", "latency_cycles", "latency_ci", "doubt"
                ),
            }
            for unit in units
        ],
        "stream": [
            {
                "kernel": kernel,
                "level": row["level"],
                "cores": row["ranks"],
                "rate_Bps": row[f"{kernel}_Bps"],
                "rate_Bps_ci": row.get(f"{kernel}_Bps_ci"),
                "mark": row["marks"].get(kernel),
            }
            for row in facts.results.get("stream", [])
            for kernel in KERNELS
            if f"{kernel}_Bps" in row
        ],
        "doubts": [
            doubt
            for row in (
                *rows,
                *facts.results.get("translation", []),
                *facts.results.get("stream", []),
            )
            for doubt in row.get("doubts", [])
        ],
    }


def _livermore(request: Request) -> None:
    """Run the Livermore kernels; compare with bounds if this processor was measured before."""
    from nhalf.loops.livermore.table import measured
    from nhalf.node.described import HERE

    try:
        processor = described(HERE)
    except MissingError:
        processor = None
    run, progress = begin(request.out), console()
    table = measured(
        processor, lambda kernel: None if request.is_silent else progress.print(f"running {kernel}")
    )
    report_path = _report(request, Facts.of([keep(run, table).run]), run)
    if request.json:
        name = processor.name if processor else None
        emit_json({"run": str(run.path), "machine": name, "lfk": as_json(table)})
    elif not request.quiet:
        show_livermore(stdout_console(), processor, table)
        show_place(run, report_path)


def _gpu(request: Request) -> None:
    """Measure the GPU, write its curves as a machine file, and show what a message pays."""
    from nhalf.facts.fit import SIZES_MIN
    from nhalf.node.gpu import SIZES

    sizes = parse_sizes(request.bytes).size_bytes if request.bytes else SIZES
    if request.lfk or 0 in sizes:
        raise InputError("--gpu goes with neither --lfk nor copies of 0 bytes", "leave one out")
    outcome = measure_gpu(begin_gpu(request.out), Progress(request.is_silent), sizes)
    run, facts = outcome.run, Facts.of([outcome.run])
    if len(sizes) >= SIZES_MIN and not facts.summary.is_empty():
        write_machine(replace(facts.machine, gpu=gpu_part(facts)), run.path / "machine.toml")
    report_path = _report(request, facts, run)
    if request.json:
        emit_json({"run": str(run.path), **gpu_json(run, facts), "failed": outcome.failed})
    elif not request.quiet:
        show_gpu(run, facts, report_path)
    if outcome.failed:
        name, reason = next(iter(outcome.failed.items()))
        points = f"{len(outcome.failed)} of the GPU's points failed"
        raise FailedError(f"{points}, the first is {name}: {reason}")


def gpu_json(run: Run, facts: Facts) -> dict[str, Any]:
    """The GPU and what it takes, as `node --gpu --json` prints them."""
    environment = run.environment
    return {
        "gpu": {key: environment[key] for key in environment if key.startswith("gpu")},
        "costs": facts.results.get("gpu", []),
    }


def _report(request: Request, facts: Facts, run: Run) -> Path | None:
    """Write the requested report; None if there is none."""
    return write_report(facts, run.path / "report.html") if request.report else None
