"""Verbs, one a file; each owns its transaction and answers with a member of a closed set."""
