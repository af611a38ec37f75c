"""Client systems: what they may do for which tenants, in whose name they may send again, and their tokens."""
