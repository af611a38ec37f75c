"""Management commands of the reconciliation app."""
