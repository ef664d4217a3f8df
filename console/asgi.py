"""The ASGI application; works the same under daphne and uvicorn."""

import os

from django.core.asgi import get_asgi_application
from django.core.checks import run_checks
from django.core.management.base import SystemCheckError

from console.checks import SERVING

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.serving")

application = get_asgi_application()

# A server runs no `manage.py check`, and these faults would show only under load.
if _faults := run_checks(tags=[SERVING]):
    raise SystemCheckError("\n".join(map(str, _faults)))
