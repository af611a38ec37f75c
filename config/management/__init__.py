"""Commands that need no configuration: they start the servers the others need."""
