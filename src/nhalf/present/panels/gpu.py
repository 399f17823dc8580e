"""What a message of GPU memory pays before it is on the wire, as a table of a report."""

from nhalf.facts.facts import Facts
from nhalf.node.gpu import PATTERNS
from nhalf.present.panels import Panel, Table
from nhalf.results.gpu import Gpu


class GpuCosts(Panel[Facts]):
    title = Gpu.title
    how_to_read = (
        "A message from GPU memory waits for a launch or a flag, and is copied where the network "
        "does not reach that memory; times end when the call returns, when the GPU is done and "
        "when the host knows it, of copies those of the fewest bytes and the rate of the most; "
        "processes on one GPU take turns, which is no network."
    )
    order = 69
    patterns = PATTERNS

    def render(self, facts: Facts) -> Table | None:
        columns = {column.title: column.cell for column in Gpu.columns}
        return Table.of(facts.results.get("gpu", []), columns)
