"""What `manage.py seed_demo` puts into an empty database: made-up people, partners and contacts."""
