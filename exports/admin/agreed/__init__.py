"""Destinations as people set them up: contracts written by one person and confirmed by another, credentials, tests."""
