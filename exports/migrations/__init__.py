"""The schema, step by step; frozen SQL that no later change of the code touches."""
