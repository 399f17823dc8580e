"""OpenMetrics text: for the collector of text files of Prometheus' node exporter, and the like."""

from nhalf.exchange.exporters import Exporter, Subject


class OpenMetrics(Exporter):
    """Times of points, or counters of a traced program."""

    description = "times of a run, or counters of a trace, for Prometheus"
    takes = frozenset({"mpi"})

    def text(self, subject: Subject) -> str:
        """The text; raises InputError if there is nothing to write."""
        from nhalf.exchange.metrics import families_of, openmetrics

        return openmetrics(families_of(subject, self.options.mpi))
