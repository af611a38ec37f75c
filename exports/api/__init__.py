"""The REST API for client systems, under /api/v1/."""
