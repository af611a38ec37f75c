"""SFTP destinations: a strict client of our own for version 3 of the protocol, over paramiko's SSH transport.

Paramiko does the cryptography; its SFTP client is not used, because it loses errors of pipelined writes and of
CLOSE, forgets status codes, and waits for ever in several places.
"""

from exports.destinations.sftp.connect import open_sftp

__all__ = ["open_sftp"]
