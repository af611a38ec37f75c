"""Reads of the console and the API: narrowed by reach, bounded in size, on an index."""
