"""The same with everything compressed that Django can compress, and pages in German too."""

from console.settings import MIDDLEWARE as _PLAIN
from tests.web.live_site import *  # noqa: F403

MIDDLEWARE = [
    "django.middleware.gzip.GZipMiddleware",
    *_PLAIN,
    "django.middleware.locale.LocaleMiddleware",
]
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
