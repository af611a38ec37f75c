"""The parts of the benchmark: one is a module here with `run(bench: Bench) -> Iterable[Figure]`, and its name below.

A part raises Skipped, with its reason, for what this machine lacks.
"""

NAMES = ("protocol", "end_to_end", "latency", "cancel", "build", "upload", "dispatch", "sweep", "lock", "console")
"""In the order of the table."""
