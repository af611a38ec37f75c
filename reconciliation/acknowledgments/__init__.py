"""Acknowledgments: what partners leave, move or take away to say that they have a file, collected as evidence.

A collector looks at destinations whose contract provides for it, appends each acknowledgment once, tied to the
upload it is about, and completes an unknown outcome only where the contract lets it (DESIGN: the states). It
runs under a role of its own, which can do nothing else.
"""
