"""Settings by environment: base (production), local (the embedded stack), test, bootstrap (no servers yet)."""
