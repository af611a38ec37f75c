"""Counts handed from a child process to its parent, which is scraped: one line of JSON.

A child lives for one export. What it counted is added to its parent's counters when it ends; of a histogram the
number of observations and their sum are handed over, and the parent observes their mean so often.
"""

from __future__ import annotations

import json
from typing import Final

from prometheus_client import Counter, Histogram

from exports.observability import counters

MOST_OBSERVATIONS: Final = 1_000
"""An export has three phases; a line that says more is not believed."""


def counted() -> str:
    """Return what this process has counted: name, labels, and how many, or how many and their sum."""
    found = [
        [name, dict(labels), *values]
        for name, metric in _metrics().items()
        for labels, values in _values(metric).items()
        if values[0]
    ]
    return json.dumps(found)


def add(line: str) -> None:
    """Add a child's counts to this process's own; ValueError, TypeError or KeyError when the line is none."""
    metrics = _metrics()
    for name, labels, number, *total in json.loads(line):
        metric = metrics[name].labels(**labels) if labels else metrics[name]
        match metric:
            case Counter():
                metric.inc(number)
            case Histogram():
                for _ in range(min(int(number), MOST_OBSERVATIONS)):
                    metric.observe(total[0] / number)


def _metrics() -> dict[str, Counter | Histogram]:
    """Return every counter and histogram there is, by its family's name."""
    found = (each for each in vars(counters).values() if isinstance(each, (Counter, Histogram)))
    return {next(iter(each.collect())).name: each for each in found}


def _values(metric: Counter | Histogram) -> dict[tuple[tuple[str, str], ...], list[float]]:
    """Return of each combination of labels its count, and for a histogram its sum."""
    wanted = ("_total",) if isinstance(metric, Counter) else ("_count", "_sum")
    values: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for suffix in wanted:
        for family in metric.collect():
            for sample in family.samples:
                if sample.name == family.name + suffix:
                    values.setdefault(tuple(sorted(sample.labels.items())), []).append(sample.value)
    return values
