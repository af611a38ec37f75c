"""The demo: every process of a deployment on one machine, two tenants, and exports that show what happens."""
