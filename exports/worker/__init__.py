"""One attempt of an export, from the wake-up to its last write, and everything that watches over it meanwhile.

Each part is a file: what may be sent (policy), where contacts come from (source), how they become a private
local file (builder, spool), and how an attempt is told to stop (stop). Nothing here is irreversible before
cutoff 2; whatever ends an attempt, its local file goes with it.
"""
