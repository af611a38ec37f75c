"""The embedded stack on one machine: plain HTTP on loopback, partners on loopback."""

from dataclasses import replace

from config.settings.base import *  # noqa: F403 - settings are inherited as a whole
from config.settings.base import EXPORTS

WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
SECURE_SSL_REDIRECT = False
SECURE_HSTS_SECONDS = 0
SECURE_PROXY_SSL_HEADER = None  # type: ignore[assignment] # the base sets one
SESSION_COOKIE_SECURE = False
CSRF_COOKIE_SECURE = False
EXPORTS = replace(EXPORTS, allow_private_destinations=True)
