"""Why queued work waits, and what wakes it again (I5): people's pauses and the freeze, caps, pace, outages, guards.

A hold is a row. Policy reads it and settles the message without touching the job; whatever ends the hold writes
the wake-ups. Slots are counted from job rows under a gate and stored nowhere, so none can leak.
"""
