"""Keys and certificates for test servers, made by the same library that everything else here uses."""

import asyncssh


def new_key(algorithm: str = "ssh-ed25519") -> asyncssh.SSHKey:
    """Make a fresh key pair."""
    return asyncssh.generate_private_key(algorithm)


def public_line(key: asyncssh.SSHKey) -> str:
    """Return the public half as a contract pins it."""
    return str(key.export_public_key().decode().strip())


def private_text(key: asyncssh.SSHKey, passphrase: str | None = None) -> str:
    """Return the private half as a secret stores it."""
    return str(key.export_private_key("openssh", passphrase).decode())


def pem_text(key: asyncssh.SSHKey) -> str:
    """Return the private half in PEM form, as older tools write it."""
    return str(key.export_private_key("pkcs8-pem").decode())
