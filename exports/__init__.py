"""An export's life: created, woken, claimed, built, authorized, delivered or stopped."""
