"""Settings of a production process; local and test relax what they name and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config.env import database_options, read_environment
from config.logs import configure_structlog, logging_config
from config.timings import contradictions

ENVIRONMENT = read_environment()
if _problems := contradictions(ENVIRONMENT.exports):
    raise ImproperlyConfigured(" ".join(_problems))
BASE_DIR = Path(__file__).resolve().parent.parent.parent

EXPORT_ROLE = ENVIRONMENT.role
EXPORTS = replace(ENVIRONMENT.exports, second_factor=ENVIRONMENT.second_factor is not False)
ADMIN_DATABASE_URL = ENVIRONMENT.admin_url
ROLE_DATABASE_URLS = dict(ENVIRONMENT.role_urls)

DEBUG = ENVIRONMENT.debug
SECRET_KEY = ENVIRONMENT.secret_key
ALLOWED_HOSTS = ENVIRONMENT.allowed_hosts
CSRF_TRUSTED_ORIGINS = ENVIRONMENT.csrf_trusted_origins

INSTALLED_APPS = [
    "config",
    "reconciliation",
    "exports",
    "config.admin_site.ConsoleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "django_structlog",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "exports.middleware.ContentSecurityPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Its request id stands on every line of the request.
    "django_structlog.middlewares.RequestMiddleware",
    "exports.middleware.DatabaseAway",
    # Turns a sign-in that was refused for too many wrong ones into its page; it has to be the last.
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES: dict[str, dict[str, Any]] = {}
if ENVIRONMENT.database_url:
    DATABASES["default"] = database_options(ENVIRONMENT.database_url)
if ENVIRONMENT.reconciliation_url:
    DATABASES["reconciliation"] = database_options(ENVIRONMENT.reconciliation_url)
DATABASE_ROUTERS: list[str] = []

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"

SECURE_SSL_REDIRECT = not DEBUG
SECURE_HSTS_SECONDS = 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_REFERRER_POLICY = "same-origin"
SECURE_REDIRECT_EXEMPT = [r"^healthz/", r"^metrics$"]
SESSION_COOKIE_SECURE = True
SESSION_COOKIE_AGE = int(EXPORTS.session_seconds)
CSRF_COOKIE_SECURE = True
CSRF_COOKIE_HTTPONLY = True  # the pages carry it in their forms; no script reads it
X_FRAME_OPTIONS = "DENY"
LOGIN_URL = "admin:login"

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",  # asked first: whether this name may be tried from this address at all
    "django.contrib.auth.backends.ModelBackend",
]
# Name and address together: nobody can lock out others by trying their names, nor everybody behind one address.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = EXPORTS.sign_in_failures
AXES_COOLOFF_TIME = timedelta(seconds=EXPORTS.sign_in_wait_seconds)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # the wait has an end, whoever goes on trying
AXES_RESET_ON_SUCCESS = True
AXES_CLIENT_IP_CALLABLE = "exports.proxies.client_address"
AXES_LOCKOUT_CALLABLE = "exports.admin.refused_sign_in.too_many_failures"
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "csrfmiddlewaretoken", "next"]
AXES_DISABLE_ACCESS_LOG = True  # the log of requests has it
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

OTP_TOTP_ISSUER = "Contact exports"

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Three counts a client; far more clients than any installation has.
    "throttles": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "throttles",
        "OPTIONS": {"MAX_ENTRIES": 30_000},
    },
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["knox.auth.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "exports.api.errors.handle",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
REST_KNOX = {"TOKEN_TTL": None, "AUTH_HEADER_PREFIX": "Token"}
SPECTACULAR_SETTINGS = {
    "TITLE": "Contact exports",
    "VERSION": "1",
    "SERVE_PUBLIC": True,
    "SERVE_INCLUDE_SCHEMA": False,
}

CELERY_BROKER_URL = ENVIRONMENT.broker_url
# Who is signed in is a question to the database, and a line must be written while it is away too.
DJANGO_STRUCTLOG_USER_ID_FIELD = None
SILENCED_SYSTEM_CHECKS: list[str] = []

configure_structlog()
LOGGING = logging_config(as_json=ENVIRONMENT.log_json)
