"""What the processes say about themselves: heartbeats, the canary, counters, and the gauges of the database.

Nothing here decides anything about an export, and nothing here may stop one: what cannot be said is left unsaid.
"""
