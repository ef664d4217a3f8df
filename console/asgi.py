"""The ASGI application; works the same under daphne and uvicorn."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.serving")

application = get_asgi_application()
