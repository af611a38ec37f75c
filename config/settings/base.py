"""Settings of a production process; local and test relax what they name and nothing else."""

from __future__ import annotations

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
EXPORTS = ENVIRONMENT.exports
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
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "exports.middleware.ContentSecurityPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Its request id stands on every line of the request.
    "django_structlog.middlewares.RequestMiddleware",
    "exports.middleware.DatabaseAway",
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
SESSION_COOKIE_AGE = 8 * 3600
CSRF_COOKIE_SECURE = True
X_FRAME_OPTIONS = "DENY"
LOGIN_URL = "admin:login"

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
