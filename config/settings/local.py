"""The embedded stack on one machine: plain HTTP on loopback, partners on loopback."""

from dataclasses import replace

from config.settings.base import *  # noqa: F403 - settings are inherited as a whole
from config.settings.base import ENVIRONMENT, EXPORTS

WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
SECURE_SSL_REDIRECT = False
SECURE_HSTS_SECONDS = 0
SECURE_PROXY_SSL_HEADER = None  # type: ignore[assignment] # the base sets one
SESSION_COOKIE_SECURE = False
CSRF_COOKIE_SECURE = False
# People who try it out have no second factor; EXPORT_SECOND_FACTOR=true shows it.
EXPORTS = replace(EXPORTS, allow_private_destinations=True, second_factor=bool(ENVIRONMENT.second_factor))
