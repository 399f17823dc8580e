"""OSACA and llvm-mca on one emitted loop: cycles of a pass by its ports, and with its chain."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from nhalf.loops.listing.listing import EmittedLoop

TIMEOUT_S = 120
PASSES = 200
LLVM_MCA = ("llvm-mca", *(f"llvm-mca-{version}" for version in range(22, 13, -1)))
ARCHITECTURES = {
    ("GenuineIntel", 6): {
        (143, 207): "SPR", (106, 108): "ICX", (85,): "SKX", (63, 60, 69, 70): "HSW",
        (79, 61, 71, 86): "BDW", (58, 62): "IVB", (42, 45): "SNB", (125, 126): "ICL",
    },
    ("AuthenticAMD", 23): {tuple(range(48)): "ZEN1", tuple(range(48, 256)): "ZEN2"},
    ("AuthenticAMD", 25): {
        (*range(16), *range(32, 96)): "ZEN3", (*range(16, 32), *range(96, 256)): "ZEN4",
    },
}  # fmt: skip
"""OSACA's names of processors by vendor, family and models."""


@dataclass(frozen=True)
class Analysed:
    """Cycles of a pass: of the busiest port, and with what waits for each other."""

    ports_cycles: float
    cycles: float


def processor_of(cpuinfo: str) -> str:
    """OSACA's name of the processor that a system describes; '' if it has none."""
    fields = dict(re.findall(r"^(vendor_id|cpu family|model)\s*: (\S+)$", cpuinfo, re.MULTILINE))
    if len(fields) < 3:
        return ""
    names = ARCHITECTURES.get((fields["vendor_id"], int(fields["cpu family"])), {})
    return next((name for models, name in names.items() if int(fields["model"]) in models), "")


def assembly(loop: EmittedLoop) -> str:
    """The instructions that every pass of a loop executes, as assembly with a label."""
    lines = [
        f"\t{step.name} {'.Lpass' if step.is_jump else ','.join(step.operands)}"
        for step in loop.always
    ]
    return "\n".join([".Lpass:", *lines, ""])


def osaca_program() -> str:
    """OSACA of `make bench`, or in the search path; '' if there is none."""
    return os.environ.get("NHALF_OSACA", "") or shutil.which("osaca") or ""


def llvm_mca_program() -> str:
    """The newest llvm-mca in the search path; '' if there is none."""
    return next(filter(None, map(shutil.which, LLVM_MCA)), "")


def missing() -> list[str]:
    """Why columns of the table are empty, in sentences."""
    reasons = []
    if not osaca_program():
        reasons.append("OSACA is not here: `make bench` installs it.")
    elif not processor_of(Path("/proc/cpuinfo").read_text("utf-8")):
        reasons.append("OSACA has no model of this processor.")
    if not llvm_mca_program():
        reasons.append("llvm-mca is not here: it is in Debian's package llvm.")
    return reasons


def by_llvm_mca(loop: EmittedLoop) -> Analysed | None:
    """What llvm-mca says of a loop; None if it is not here or does not read it."""
    program = llvm_mca_program()
    text = _output([program, "-mcpu=native", f"-iterations={PASSES}", "-"], assembly(loop))
    total = re.search(r"Total Cycles:\s+(\d+)", text)
    ports = re.search(r"Block RThroughput:\s+([\d.]+)", text)
    return Analysed(float(ports[1]), int(total[1]) / PASSES) if total and ports else None


def by_osaca(loop: EmittedLoop) -> Analysed | None:
    """What OSACA says of a loop; None if it is not here, or knows not the processor."""
    program = osaca_program()
    name = processor_of(Path("/proc/cpuinfo").read_text("utf-8"))
    if not (program and name):
        return None
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder, "loop.s"), Path(folder, "answer.yml")
        file.write_text(assembly(loop), "utf-8")
        options = ["--arch", name, "--syntax", "ATT", "--ignore-unknown", "--yaml-out", str(answer)]
        _output([program, *options, str(file)], "")
        return summary_of(answer.read_text("utf-8")) if answer.is_file() else None


def summary_of(answer: str) -> Analysed | None:
    """The cycles in OSACA's YAML; None if it has no summary."""
    summary = answer[answer.rfind("Summary:") :] if "Summary:" in answer else ""
    ports = re.search(r"PortPressure:(.*?)(?:\n\s*\w[\w ]*:|\Z)", summary, re.DOTALL)
    chain = re.search(r"LCD: ([\d.]+)", summary)
    pressures = [float(text) for text in re.findall(r": ([\d.]+)", ports[1])] if ports else []
    if not pressures or not chain:
        return None
    return Analysed(max(pressures), max(*pressures, float(chain[1])))


def _output(command: list[str], text: str) -> str:
    """Standard output of a command with a text as its input; '' if it fails."""
    if not command[0]:
        return ""
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
