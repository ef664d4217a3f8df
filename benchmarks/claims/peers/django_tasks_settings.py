"""A Django project with nothing but django-tasks-db, worked by its own management command."""

import os

import dj_database_url

SECRET_KEY = "only-for-a-benchmark"  # noqa: S105
USE_TZ = True
INSTALLED_APPS = ["django_tasks", "django_tasks_db"]
# Without this it would make a new connection for every job.
DATABASES = {"default": dj_database_url.parse(os.environ["DATABASE_URL"]) | {"CONN_MAX_AGE": None}}
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
