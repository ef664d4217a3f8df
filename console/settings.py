"""Django's settings. Whatever an installation may choose is read through console.env."""

import sys
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from console import databases, env, logs
from console.secret_key import installation_secret

BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = env.switch("GUILDQUEUE_DEBUG", default=False)
DATA_DIR = env.folder("GUILDQUEUE_DATA_DIR", default=BASE_DIR / ".data", shown=".data")
SECRET_KEY = env.secret(
    "GUILDQUEUE_SECRET_KEY", allowed="at least 50 characters", parse=env.long_secret
) or installation_secret(DATA_DIR)
ALLOWED_HOSTS = env.words(
    "GUILDQUEUE_ALLOWED_HOSTS",
    default=("localhost", "127.0.0.1", "[::1]"),
    allowed="host names with commas between",
)
CSRF_TRUSTED_ORIGINS = env.words(
    "GUILDQUEUE_TRUSTED_ORIGINS",
    default=(),
    allowed="origins like https://queue.example.org with commas between",
    each=env.is_origin,
)
PORT = env.whole_number("PORT", default=8000, low=1, high=65535, unit="TCP port")
WORKERS = env.whole_number("WORKERS", default=1, low=0, high=64, unit="jobs at a time")

# The queue. guildqueue reads these from django.conf.settings, never from the environment.
QUEUE_CLAIM_ORDER = env.choice("QUEUE_CLAIM_ORDER", default="turns", among=("turns", "global"))
QUEUE_RUNNING_CAP = env.count_or_none("QUEUE_RUNNING_CAP", low=1, high=1000000, unit="jobs")
QUEUE_LEASE_SECONDS = env.seconds("QUEUE_LEASE_SECONDS", default=60, low=3, high=86400)
QUEUE_OVERDUE_SECONDS = env.seconds("QUEUE_OVERDUE_SECONDS", default=0.5, low=0, high=1)
QUEUE_POLL_SECONDS = env.seconds("QUEUE_POLL_SECONDS", default=1, low=0.05, high=60)
QUEUE_WAKE_UPS = env.switch("QUEUE_WAKE_UPS", default=True)
LIVE_HEARTBEAT_SECONDS = env.seconds("LIVE_HEARTBEAT_SECONDS", default=15, low=0.2, high=300)
QUEUE_MAX_ATTEMPTS = env.whole_number(
    "QUEUE_MAX_ATTEMPTS", default=5, low=1, high=100, unit="attempts"
)
QUEUE_RETRY_BASE_SECONDS = env.seconds("QUEUE_RETRY_BASE_SECONDS", default=5, low=0.01, high=3600)
QUEUE_RETRY_CAP_SECONDS = env.seconds("QUEUE_RETRY_CAP_SECONDS", default=600, low=0.01, high=86400)
QUEUE_STOP_GRACE_SECONDS = env.seconds("QUEUE_STOP_GRACE_SECONDS", default=10, low=0, high=86400)
QUEUE_SNAPSHOT_WARN_SECONDS = env.seconds(
    "QUEUE_SNAPSHOT_WARN_SECONDS", default=600, low=1, high=86400
)
GUILDQUEUE_GUILD = env.identifier("GUILDQUEUE_GUILD", allowed="a guild's id")
env.ordered(
    "QUEUE_RETRY_BASE_SECONDS",
    QUEUE_RETRY_BASE_SECONDS,
    "QUEUE_RETRY_CAP_SECONDS",
    QUEUE_RETRY_CAP_SECONDS,
)
QUEUE_HANDLERS = {"transcribe": "recordings.transcribe.run", "document": "recordings.document.run"}
WHISPER_MODEL = env.speech_model(
    "WHISPER_MODEL", default="bundled", allowed="bundled, a model's name, or the path of one"
)
WHISPER_THREADS = env.whole_number(
    "WHISPER_THREADS", default=0, low=0, high=1024, unit="threads; 0 is one a processor"
)
# Where recordings/ is plugged into guildqueue, which never imports it.
QUEUE_IMPORTER = "recordings.importer.import_path"
QUEUE_DEMO = "recordings.demo.fill"

DATABASES = {
    "default": databases.from_environment(
        embedded_data_dir=DATA_DIR, program=Path(sys.argv[0]).name or "guildqueue"
    )
}
# Behind a pooler in transaction mode nothing is heard, so that has an address of its own.
LISTEN_DATABASE_URL = env.secret(
    "LISTEN_DATABASE_URL", allowed=databases.ADDRESS, parse=databases.direct_address
)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASE_POOL_MAX = env.whole_number(
    "DATABASE_POOL_MAX", default=10, low=1, high=1000, unit="connections"
)

INSTALLED_APPS = [
    "whitenoise.runserver_nostatic",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "console.apps.ConsoleConfig",
    "guildqueue.apps.GuildQueueConfig",
]
MIDDLEWARE = [
    "console.middleware.correlation",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "console.middleware.DatabaseAway",
]
ROOT_URLCONF = "console.urls"
ASGI_APPLICATION = "console.asgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/guilds/"
LOGOUT_REDIRECT_URL = LOGIN_URL
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]

MEDIA_ROOT = str(
    env.folder("GUILDQUEUE_MEDIA_ROOT", default=DATA_DIR / "media", shown="<data dir>/media")
)
# What a handler's process finds in its environment; it has no settings and no database.
QUEUE_HANDLER_ENVIRONMENT = {
    "GUILDQUEUE_MEDIA_ROOT": MEDIA_ROOT,
    "WHISPER_MODEL": WHISPER_MODEL,
    "WHISPER_THREADS": str(WHISPER_THREADS),
}
STATIC_URL = "/static/"
STATIC_ROOT = str(DATA_DIR / "static")
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "console.static_files.HashedStorage"
    },
}

# The demo is plain HTTP on loopback, where a Secure cookie would never come back. Behind TLS
# the trusted origins say so.
HTTPS = any(origin.startswith("https://") for origin in CSRF_TRUSTED_ORIGINS)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "console.views.errors.csrf_failure"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024  # bytes; the largest body anybody has a reason to send

LOGGING_CONFIG = None
logs.configure(
    env.choice("GUILDQUEUE_LOG_FORMAT", default=logs.default_format(), among=("json", "console")),
    debug=DEBUG,
)
