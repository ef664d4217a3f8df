"""The ASGI application; works the same under daphne and uvicorn."""

import gc
import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application
from django.core.checks import run_checks
from django.core.management.base import SystemCheckError

from console.checks import SERVING

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.serving")

_django = get_asgi_application()

from console.live.routing import with_streams  # noqa: E402 - needs the apps, which are ready now

application = ProtocolTypeRouter({"http": with_streams(_django)})

# A server runs no `manage.py check`, and these faults would show only under load.
if _faults := run_checks(tags=[SERVING]):
    raise SystemCheckError("\n".join(map(str, _faults)))

# What is loaded by now stays. With thousands of pages open a full collection takes a third of a
# second, and with Python's own thresholds one falls into every fourth event that they are sent.
gc.freeze()
gc.set_threshold(700, 10, 1_000)
