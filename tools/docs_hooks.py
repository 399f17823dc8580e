"""What mkdocs asks while it builds the site: fills in what the program itself knows.

A line `<!-- nhalf:NAME -->` in a page is replaced by what the function of that name returns, so
the documentation cannot say something else than the program does.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent

# Some tables are predicted, which asks a probe: that of the installed nhalf, the tree has none.
os.environ.setdefault(
    "NHALF_NATIVE_DIR", str(Path(sysconfig.get_path("purelib"), "nhalf", "_native"))
)


def command_reference() -> str:
    """Every command with its parameters."""
    import command_reference

    return command_reference.reference()


def machines() -> str:
    """Every machine of record in a row."""
    import machine_reference

    return machine_reference.overview()


def machines_in_full() -> str:
    """Every machine of record with its models, sources and assumptions."""
    import machine_reference

    return machine_reference.reference()


def models() -> str:
    """Every model with its formula and its source."""
    from nhalf.base.plugins import load
    from nhalf.models.forms import Model

    rows = [
        f"| {name} | {model.what} | {model.formula} | {model.source} |"
        for name, model in load("nhalf.models.forms", Model).items()
    ]
    return "\n".join(["| model | what | formula | source |", "|---|---|---|---|", *rows])


def panels() -> str:
    """Every panel of the report."""
    from nhalf.base.plugins import load
    from nhalf.present.panels import Panel

    found = load("nhalf.present.panels", Panel).values()
    ordered = sorted(found, key=lambda panel: panel.order)
    return "\n".join(f"- **{panel.title}**: {panel.how_to_read}" for panel in ordered)


def launchers() -> str:
    """Every launcher."""
    from nhalf.sites.launchers import OWN
    from nhalf.sites.launchers import launchers as launchers_by_name

    own = f"- `{OWN}`: the launcher that came with each library, which is the usual one"
    named = sorted(launchers_by_name().items())
    return "\n".join([own, *(f"- `{name}`: {launcher.description}" for name, launcher in named)])


def importers() -> str:
    """Every suite whose logs can be read."""
    from nhalf.base.plugins import load
    from nhalf.exchange.importers import Importer

    found = load("nhalf.exchange.importers", Importer).items()
    return "\n".join(f"- `{name}`: {importer.description}" for name, importer in found)


def coverage() -> str:
    """Every test of other suites with our pattern, or the reason why there is none."""
    import coverage_tables

    return coverage_tables.tables()


def advices() -> str:
    """Every doubt that a number can carry, with its remedy."""
    from nhalf.statistics.advice import ADVICES

    head = ["| advice | what it means | how it is found | what to do |", "|---|---|---|---|"]
    rows = [f"| `{a.name}` | {a.meaning} | {a.detected} | {a.remedy} |" for a in ADVICES]
    return "\n".join(head + rows)


def measurement_columns() -> str:
    """The columns of measurements.parquet."""
    from nhalf.store.keys import MEASUREMENT_COLUMNS

    rows = [f"| `{name}` | {kind} |" for name, kind in MEASUREMENT_COLUMNS.items()]
    return "\n".join(["| column | type |", "|---|---|", *rows])


def summary_columns() -> str:
    """The columns of a summary."""
    from nhalf.store.keys import SUMMARY_COLUMNS

    rows = [f"| `{name}` | {kind} |" for name, kind in SUMMARY_COLUMNS.items()]
    return "\n".join(["| column | type |", "|---|---|", *rows])


def choice() -> str:
    """What choices from few measurements cost, on every grid that is kept."""
    import json

    head = [
        "| operation | machine | cells | measured | within 5 % of the best | mean loss | "
        "largest loss | mean loss of `native` |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows = []
    for path in sorted((ROOT / "docs" / "choice").glob("*.json")):
        kept = json.loads(path.read_text(encoding="utf-8"))
        known = kept["verdict"]
        shares = ("measured_fraction", "near_fraction", "penalty_mean", "penalty_max")
        cells = [kept["operation"], kept["machine"], str(known["cells"])]
        cells += [f"{100 * known[name]:.3g} %" for name in (*shares, "native_penalty_mean")]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(head + rows)


def wings_picture() -> str:
    """The wings of the Python package and the imports between them."""
    import wings_picture

    return wings_picture.svg()


def npb_pictures() -> str:
    """Who sends how much to whom in the kernels of the NAS Parallel Benchmarks."""
    import npb_pictures

    return npb_pictures.figures()


def wings() -> str:
    """The wings in their order, from the ground up."""
    import wings

    members = [wings.wing(module) for module in wings.module_files(ROOT)]
    rows = [f"| `{name}` | {what} | {members.count(name)} |" for name, what in wings.ORDER.items()]
    return "\n".join(["| wing | what is in it | files |", "|---|---|---:|", *rows])


def rooms() -> str:
    """The rooms of the C++ side in their order."""
    page = (ROOT / "native" / "README.md").read_text(encoding="utf-8")
    return "\n".join(line for line in page.splitlines() if line.startswith("|"))


def study_verdicts() -> str:
    """Every published study on its machines of record."""
    from nhalf.present.report.study_page import verdict_table
    from nhalf.studies.overview import overviews

    blocks = []
    for of in overviews():
        table = verdict_table(of)
        rule = "|".join(["---", *(":-:" for _ in table.columns[1:])])
        lines = [" | ".join(row) for row in (table.columns, *table.rows)]
        rows = [f"| {line} |" for line in lines]
        blocks.append("\n".join([f"### {of.study}\n", rows[0], f"|{rule}|", *rows[1:]]))
    return "\n\n".join(blocks)


def gallery(name: str) -> Callable[[], str]:
    """A table of the gallery."""

    def table() -> str:
        import gallery_tables

        return gallery_tables.TABLES[name]()

    return table


def library_choices(name: str) -> Callable[[], str]:
    """A table of what libraries choose on simulated machines."""

    def table() -> str:
        import library_choices_tables

        return library_choices_tables.TABLES[name]()

    return table


LIBRARY_CHOICES = ("overview", "cells", "files", "studies", "1995")
GALLERY = (
    *("errors", "pairs", "barriers", "collectives", "dense", "b-eff", "traffic"),
    *("order-times", "orders", "left-out"),
)
FILLED: dict[str, Callable[[], str]] = {
    **{f"gallery-{name}": gallery(f"gallery-{name}") for name in GALLERY},
    **{
        f"library-choices-{name}": library_choices(f"library-choices-{name}")
        for name in LIBRARY_CHOICES
    },
    "study-verdicts": study_verdicts,
    "command-reference": command_reference,
    "machines": machines,
    "machine-reference": machines_in_full,
    "models": models,
    "panels": panels,
    "launchers": launchers,
    "importers": importers,
    "coverage": coverage,
    "advices": advices,
    "measurement-columns": measurement_columns,
    "summary-columns": summary_columns,
    "wings-picture": wings_picture,
    "wings": wings,
    "npb-pictures": npb_pictures,
    "rooms": rooms,
    "choice": choice,
}
_MARK = re.compile(r"^<!-- nhalf:([\w-]+) -->$", re.MULTILINE)


def fill(markdown: str) -> str:
    """The page with every mark replaced.

    Raises KeyError for a mark that is unknown, ValueError for one that nothing is filled in for.
    """
    return _MARK.sub(lambda mark: _filled(mark[1]), markdown)


def _filled(mark: str) -> str:
    text = FILLED[mark]()
    if not text.strip():
        raise ValueError(f"nhalf:{mark} is empty")
    return text


def find_tools() -> None:
    """Make what hooks import found; mkdocs takes back what a hook adds while it is loaded."""
    for folder in (str(ROOT / "tools"), str(ROOT / "src")):
        if folder not in sys.path:
            sys.path.insert(0, folder)


def contributing() -> str:
    """CONTRIBUTING.md as a page of the site."""
    return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("](docs/", "](")


def on_files(files: Files, *, config: Any, **_: Any) -> Files:
    """Called by mkdocs once: adds the pages that are not in docs/, and those of linked sources."""
    from mkdocs.structure.files import File

    find_tools()
    import source_links

    pages = {"contributing.md": contributing(), **source_links.source_pages()}
    for place, content in pages.items():
        files.append(File.generated(config, place, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by mkdocs for every page."""
    find_tools()
    import source_links

    return source_links.resolved(page.file.src_uri, fill(markdown))
