"""Settings of the commands that start the servers: no database, no secret, no environment yet."""

INSTALLED_APPS = ["config"]
USE_TZ = True
