"""The operator console's pages."""
