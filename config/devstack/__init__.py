"""Real servers for development, the demo and the tests: PostgreSQL, a broker and a partner's SFTP server.

Everything lives in one directory, listens on loopback alone, on ports that are not the standard ones and
with passwords of its own, and is gone when it is stopped. None of it is used by a deployment.
"""
