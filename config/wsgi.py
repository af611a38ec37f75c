"""The web process: console and REST under the role api."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
os.environ.setdefault("EXPORT_ROLE", "api")

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()

from config import startup  # noqa: E402 - after the applications are loaded
from exports.observability.heartbeats import Heartbeat  # noqa: E402 - the same

startup.check("web")
Heartbeat("web").start()
