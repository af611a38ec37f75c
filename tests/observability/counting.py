"""How much a counter moved while something happened."""

from __future__ import annotations

from exports.observability.counters import REGISTRY


class Moved:
    """Counters as they stood when it was made, and what was added since."""

    def __init__(self) -> None:
        self._before = _values()

    def by(self, name: str, **labels: str) -> float:
        key = (f"exports_{name}", tuple(sorted(labels.items())))
        return _values().get(key, 0.0) - self._before.get(key, 0.0)


def _values() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in REGISTRY.collect()
        for sample in family.samples
    }
